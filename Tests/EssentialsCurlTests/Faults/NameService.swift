import FoundationEssentials
import Glibc

/// The system's name service, as one thread sees it.
enum NameService {
    struct Failure: Error {
        var step: String
        var code: Int32
    }

    static let configuration = "/etc/resolv.conf"

    /// Runs `body` on the calling thread in a mount namespace where this is the only name server. The thread stays in
    /// the namespace, so call this only in a process that ends afterwards.
    ///
    /// - Parameter options: As in resolv.conf(5).
    static func isolated<Value>(server: String, options: String, _ body: () throws -> Value) throws -> Value {
        let path = "/tmp/essentials-resolv-\(getpid()).conf"
        try Data("nameserver \(server)\noptions \(options)\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        // <sched.h> keeps `unshare` to programs that define _GNU_SOURCE. The type is that of its manual page.
        guard let symbol = dlsym(nil, "unshare") else { throw Failure(step: "dlsym", code: 0) }
        let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        // CLONE_NEWNS, MS_BIND, and MS_REC with MS_PRIVATE.
        let (newNamespace, bindMount, privately) = (Int32(0x20000), UInt(0x1000), UInt(0x44000))
        guard unshare(newNamespace) == 0 else { throw Failure(step: "unshare", code: errno) }
        guard mount("none", "/", nil, privately, nil) == 0 else { throw Failure(step: "private mounts", code: errno) }
        guard mount(path, configuration, nil, bindMount, nil) == 0 else { throw Failure(step: "mount", code: errno) }
        return try body()
    }
}
