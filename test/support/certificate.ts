import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** X.509 certificates for tests, written from RFC 5280 because Node can only read them. */
export type Issued = { cert: string; key: string };
export type Authority = Issued & { issue(name: string, addresses?: readonly string[]): Issued };

export function makeAuthority(name: string): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cert = certificate({ subject: name, publicKey: keys.publicKey, issuer: name, signer: keys.privateKey });
  return {
    cert,
    key: pem(keys.privateKey),
    issue(subject, addresses = []) {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const signed = { subject, publicKey: own.publicKey, issuer: name, signer: keys.privateKey };
      return { cert: certificate({ ...signed, names: { hosts: [subject], addresses } }), key: pem(own.privateKey) };
    },
  };
}

type Wanted = {
  subject: string;
  publicKey: KeyObject;
  issuer: string;
  signer: KeyObject;
  /** The names of a server; without them it is an authority. */
  names?: { hosts: readonly string[]; addresses: readonly string[] };
};

const ECDSA_SHA256 = sequence(identifier("2a8648ce3d040302"));

function certificate({ subject, publicKey, issuer, signer, names }: Wanted): string {
  const isAuthority = names === undefined;
  const basic = sequence(isAuthority ? tagged(0x01, Buffer.from([0xff])) : Buffer.alloc(0));
  const extensions = [extension("551d13", basic)];
  if (names) {
    const hosts = names.hosts.map((host) => tagged(0x82, Buffer.from(host)));
    const addresses = names.addresses.map((address) => tagged(0x87, Buffer.from(address.split(".").map(Number))));
    extensions.push(extension("551d11", sequence(...hosts, ...addresses)));
  }
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(tagged(0x18, Buffer.from("20200101000000Z")), tagged(0x18, Buffer.from("21000101000000Z"))),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", body, signer)]);
  const der = sequence(body, ECDSA_SHA256, tagged(0x03, signature));
  const lines = der.toString("base64").match(/.{1,64}/g)!;
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function nameOf(common: string): Buffer {
  return sequence(tagged(0x31, sequence(identifier("550403"), tagged(0x0c, Buffer.from(common)))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(identifier(id), tagged(0x04, value));
}

function identifier(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

/** DER: tag, length, content. Lengths below 128 take one byte, longer ones say first how many follow: no more than needed. */
function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(bytes: number): number[] {
  if (bytes < 128) return [bytes];
  return bytes < 256 ? [0x81, bytes] : [0x82, bytes >> 8, bytes & 0xff];
}

function pem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}
