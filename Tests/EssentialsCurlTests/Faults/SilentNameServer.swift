import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc

/// A name server that receives queries and never responds.
final class SilentNameServer: Sendable {
    private static let address = "127.77.0.1"
    private let descriptor: Int32
    private let count = Atomic<Int>(0)

    /// Whether this process may bind the name service's port and mount a file over the system's configuration.
    static var isPossible: Bool {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
            let digits = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last,
            let capabilities = UInt64(digits, radix: 16)
        else { return false }
        // CAP_NET_BIND_SERVICE and CAP_SYS_ADMIN (capabilities(7)).
        let needed: UInt64 = 1 << 10 | 1 << 21
        return capabilities & needed == needed && access(NameService.configuration, F_OK) == 0
    }

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(53).bigEndian
        inet_pton(AF_INET, Self.address, &address.sin_addr)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound else { throw NameService.Failure(step: "bind", code: errno) }
    }

    deinit { close(descriptor) }

    /// The number of queries that have arrived.
    var queryCount: Int {
        var buffer = [UInt8](repeating: 0, count: 1500)
        while recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {
            count.wrappingAdd(1, ordering: .relaxed)
        }
        return count.load(ordering: .relaxed)
    }

    /// Runs `body` on the calling thread where this is the only name server. The thread stays there, so call this only
    /// in a process that ends afterwards.
    func isolated<Value>(_ body: () throws -> Value) throws -> Value {
        try NameService.isolated(server: Self.address, options: "timeout:5 attempts:2", body)
    }
}
