import EssentialsTools

/// The attributes of an interface in sysfs.
struct SysfsEntry: Sendable, Hashable {
    /// Whether `wireless` or `phy80211` exists.
    var isWireless = false
    /// The value of `DEVTYPE` in `uevent`.
    var deviceType: String?
    /// Whether the interface belongs to a device on a bus.
    var hasDevice = false
    /// Whether the interface belongs to the TUN/TAP driver.
    var hasTunFlags = false
}

/// Reads the directory of network interfaces below a root, which is `/sys` except in tests.
struct SysfsTree: Sendable {
    let root: String
    /// The maximum number of bytes that are read. All files that are read are smaller.
    private static let maximumFile = 4096

    /// The entry of an interface; `nil` if no entry has this name and index. The mounted sysfs can belong to another
    /// network namespace, in which the name is that of another interface.
    func entry(name: String, index: UInt32) -> SysfsEntry? {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        let folder = "\(root)/class/net/\(name)"
        guard let number = text(folder + "/ifindex")?.prefix(while: \.isNumber), UInt32(number) == index else {
            return nil
        }
        let lines = text(folder + "/uevent")?.split(separator: "\n") ?? []
        let deviceType = lines.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst("DEVTYPE=".count)) }
        return SysfsEntry(
            isWireless: exists(folder + "/wireless") || exists(folder + "/phy80211"), deviceType: deviceType,
            hasDevice: exists(folder + "/device"), hasTunFlags: exists(folder + "/tun_flags"))
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumFile)
        let count = read(file, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
