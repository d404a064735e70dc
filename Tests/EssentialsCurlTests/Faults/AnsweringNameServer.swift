import EssentialsTools
import FoundationEssentials
import Glibc

/// A name server that resolves every name to this machine. Its thread never ends, so the process must end afterwards.
final class AnsweringNameServer: Sendable {
    private let address: String
    private let work: Work

    /// - Parameter hasIPv6: Whether names have the address ::1 in addition to 127.0.0.1.
    init(hasIPv6: Bool = false) throws {
        // The address is random, so that two test runs do not conflict.
        address = "127.78.\(UInt8.random(in: .min ... .max)).\(UInt8.random(in: 1...254))"
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        work = Work(descriptor: descriptor, hasIPv6: hasIPv6)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(53).bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        let isBound = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound else { throw NameService.Failure(step: "bind", code: errno) }
        var thread = pthread_t()
        let reference = Unmanaged.passRetained(work)
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, reference.toOpaque())
        guard code == 0 else {
            reference.release()
            throw NameService.Failure(step: "thread", code: code)
        }
        pthread_detach(thread)
    }

    /// The number of IPv4 queries, one for each look-up.
    var lookups: Int { work.lookups.load(ordering: .relaxed) }

    /// Runs `body` on the calling thread where this is the only name server. The thread stays there.
    func isolated<Value>(_ body: () throws -> Value) throws -> Value {
        // The timeout is far longer than needed, so that no query is repeated.
        try NameService.isolated(server: address, options: "timeout:30 attempts:1", body)
    }
}

/// The thread of the name server.
private final class Work: Sendable {
    /// The types of questions (RFC 1035, 3.2.2; RFC 3596, 2.1).
    private static let typeA: UInt8 = 1
    private static let typeAAAA: UInt8 = 28

    let lookups = Atomic<Int>(0)
    private let descriptor: Int32
    private let hasIPv6: Bool

    init(descriptor: Int32, hasIPv6: Bool) {
        self.descriptor = descriptor
        self.hasIPv6 = hasIPv6
    }

    deinit { close(descriptor) }

    func run() {
        let capacity = 1_500
        var buffer = [UInt8](repeating: 0, count: capacity)
        while true {
            var peer = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor, &buffer, capacity, 0, $0, &size)
                }
            }
            guard count > 0 else {
                if errno == EINTR { continue }
                return
            }
            guard let reply = answer(to: Array(buffer[..<count])) else { continue }
            withUnsafePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = sendto(descriptor, reply, reply.count, 0, $0, size)
                }
            }
        }
    }

    /// Returns the response to a query, or `nil` for a malformed query.
    ///
    /// After a header of twelve bytes come the name's labels up to an empty one, type and class (RFC 1035, 4.1).
    private func answer(to question: [UInt8]) -> [UInt8]? {
        guard question.count > 12, let end = question[12...].firstIndex(of: 0), question.count >= end + 5,
            question[end + 1] == 0
        else { return nil }
        let type = question[end + 2]
        if type == Self.typeA { lookups.wrappingAdd(1, ordering: .relaxed) }
        let data = address(of: type)
        var reply = Array(question[..<2])
        // The response has no error, one question, and one answer or none.
        reply += [0x81, 0x80, 0, 1, 0, data.isEmpty ? 0 : 1, 0, 0, 0, 0] as [UInt8]
        reply += question[12..<end + 5]
        guard !data.isEmpty else { return reply }
        // The record has the name of the question and the class Internet, and is valid for a minute.
        reply += [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] as [UInt8]
        return reply + data
    }

    private func address(of type: UInt8) -> [UInt8] {
        switch type {
        case Self.typeA: [127, 0, 0, 1]
        case Self.typeAAAA where hasIPv6: Array(repeating: 0, count: 15) + [1]
        default: []
        }
    }
}
