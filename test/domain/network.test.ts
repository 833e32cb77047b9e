import { expect, test } from "vitest";
import { isPublicAddress } from "../../src/domain/network.ts";

test.each([
  ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "172.31.255.255"],
  ...["192.168.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "::ffff:a00:1"],
  ...["::127.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "fc00::1", "fd12:3456::1", "fe80::1"],
  ...["fec0::1", "ff02::1", "2001:db8::1", "0:0:0:0:0:ffff:127.0.0.1", "", "no address", "127.1"],
])("%j is no address of the internet", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "1.1.1.1",
  "100.63.255.255",
  "100.128.0.1",
  "172.32.0.1",
  "192.167.1.1",
  "2606:4700::1111",
  "::ffff:1.1.1.1",
])("%s is one", (address) => expect(isPublicAddress(address)).toBe(true));
