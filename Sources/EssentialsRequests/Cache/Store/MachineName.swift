import EssentialsStorage
import FoundationEssentials
import Glibc

/// Tells machines apart, so that the running time of another one is not compared with that of this one.
enum MachineName {
    /// A hash of machine-id(5) and the host's name, which containers on one machine do not share.
    static let text: String = {
        var names = utsname()
        var bytes: [UInt8] = []
        if let file = try? OpenFile("/etc/machine-id", O_RDONLY),
            let read = try? FileCalls.system.bytes(of: file, upTo: 64)
        {
            bytes = read
        }
        if uname(&names) == 0 { withUnsafeBytes(of: names.nodename) { bytes += $0.prefix { $0 != 0 } } }
        return StableHash.hexadecimal(bytes.withUnsafeBytes { StableHash.checksum($0) })
    }()
}
