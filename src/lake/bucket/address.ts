/** Where the objects of the lake go: `s3://bucket/prefix`. `prefix` is empty or ends with a slash. */
export type BucketAddress = { bucket: string; prefix: string };

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^[A-Za-z0-9!_.*'()-]+(?:\/[A-Za-z0-9!_.*'()-]+)*$/;
/** Far below what a name may have as a whole. */
const PREFIX_LENGTH_MAX = 400;

export function readBucketAddress(text: string): BucketAddress {
  const [, bucket, rest = ""] = /^s3:\/\/([^/]*)(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) throw new Error("must be like s3://bucket or s3://bucket/prefix.");
  if (!BUCKET.test(bucket))
    throw new Error("must name a bucket of 3 to 63 lower-case letters, digits, dots and hyphens.");
  const prefix = rest.replace(/\/$/, "");
  const isFit = prefix === "" || (PREFIX.test(prefix) && prefix.length <= PREFIX_LENGTH_MAX);
  if (!isFit || prefix.split("/").some((part) => /^\.+$/.test(part)))
    throw new Error("must have a prefix of letters, digits and !_.*'()- between single slashes.");
  return { bucket, prefix: prefix === "" ? "" : `${prefix}/` };
}
