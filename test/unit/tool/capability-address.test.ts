import { describe, expect, it } from "vitest";
import { isAddress, isLoopback, isPublicAddress } from "../../../src/tool/address.ts";

describe("addresses", () => {
  it.each([
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "this network"],
    ["10.0.0.1", "private"],
    ["100.64.0.1", "shared, CGNAT"],
    ["100.127.255.255", "shared, CGNAT"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.255", "loopback"],
    ["169.254.169.254", "link-local: the metadata of clouds"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.1", "protocols"],
    ["192.0.2.1", "documents"],
    ["192.88.99.1", "6to4 relay"],
    ["192.168.1.1", "private"],
    ["198.19.255.255", "measurements"],
    ["198.51.100.1", "documents"],
    ["203.0.113.1", "documents"],
    ["224.0.0.1", "multicast"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["[::1]", "loopback"],
    ["::ffff:127.0.0.1", "mapped"],
    ["::ffff:7f00:1", "mapped, in the other spelling"],
    ["::ffff:8.8.8.8", "mapped"],
    ["::127.0.0.1", "compatible"],
    ["64:ff9b::7f00:1", "NAT64"],
    ["64:ff9b:1::1", "NAT64, local"],
    ["100::1", "discard"],
    ["2001::1", "Teredo"],
    ["2001:2::1", "measurements"],
    ["2001:10::1", "ORCHID"],
    ["2001:db8::1", "documents"],
    ["2002:7f00:1::", "6to4"],
    ["3fff::1", "documents"],
    ["5f00::1", "segment routing"],
    ["fc00::1", "unique local"],
    ["fdff::1", "unique local"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "with a zone"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["localhost", "no address"],
    ["1.2.3", "no address"],
    ["256.1.1.1", "no address"],
    ["", "no address"],
  ])("%s is not public: %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "223.255.255.255",
  ])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));

  it.each(["2606:4700::1111", "2001:4860:4860::8888", "[2a00:1450::1]", "2001:200::1", "3fff:1000::1"])(
    "%s is public",
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it("knows loopback and what is an address", () => {
    expect(["127.0.0.1", "127.9.9.9", "::1", "[::1]"].every(isLoopback)).toBe(true);
    expect(["128.0.0.1", "::2", "::ffff:7f00:1", "localhost", "1::1"].some(isLoopback)).toBe(false);
    expect(["1.2.3.4", "::", "[1::2]"].every(isAddress)).toBe(true);
    expect(["x.com", "1.2.3.4.5", "1.2.3.999", "a:b", "[x]", "::1%lo"].some(isAddress)).toBe(false);
  });
});
