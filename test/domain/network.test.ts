import { expect, test } from "vitest";
import { countedAddress, isLoopbackHost, isPublicAddress } from "../../src/domain/network.ts";

test.each([
  ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "172.31.255.255"],
  ...["192.168.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "::ffff:a00:1"],
  ...["::127.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "fc00::1", "fd12:3456::1", "fe80::1"],
  ...["fec0::1", "ff02::1", "2001:db8::1", "0:0:0:0:0:ffff:127.0.0.1", "", "no address", "127.1"],
])("%j is no public address", (address) => {
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

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["0:0:0:0:0:FFFF:CB00:7107", "203.0.113.7"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8::", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["", ""],
])("the address %j counts as %j", (address, counted) => {
  expect(countedAddress(address)).toBe(counted);
});

test.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["::1", true],
  ["LocalHost", true],
  ["0.0.0.0", false],
  ["::", false],
  ["192.168.0.1", false],
  ["localhost.example", false],
])("a server that listens on %s is reached only from this machine: %s", (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});
