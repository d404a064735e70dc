import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

/// Received responses are kept in buffers that are reused.
@Suite("A response")
struct AnswerTests {
    /// Sizes around the limits between bodies that are stored in place, copied, and taken over.
    private static let sizes = [0, 1, 14, 15, 255, 256, 257, 4_095, 4_096, 4_097, 9_000, 70_000]

    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            // "/NUMBER/SIZE/PADDING"
            let parts = request.target.split(separator: "/").compactMap { Int($0) }
            guard parts.count == 3 else { return .response(status: 400) }
            let (number, size, padding) = (parts[0], parts[1], parts[2])
            return .response(
                headers: [("X-Number", "\(number)"), ("X-Padding", String(repeating: "p", count: padding))],
                body: [UInt8](repeating: UInt8(number % 251), count: size))
        }
    }

    private func check(_ response: TransportResponse, _ number: Int, _ size: Int, _ padding: Int) {
        #expect(response.headerFields[.init("X-Number")!] == "\(number)")
        #expect(response.headerFields[.init("X-Padding")!]?.count ?? 0 == padding)
        #expect(response.body.data == Data(repeating: UInt8(number % 251), count: size))
    }

    @Test("A response keeps its own content, whatever other responses come before and after it", arguments: [1, 24])
    func own(atATime width: Int) async throws {
        let server = try server()
        let transport = try CurlTransport()
        var numbers = SeededNumbers(state: 7)
        // More than the number of responses whose buffers are kept.
        let plan = (0..<400).map { number in
            (number, Self.sizes.randomElement(using: &numbers)!, [0, 10, 600, 6_000].randomElement(using: &numbers)!)
        }
        var kept: [(TransportResponse, Int)] = []
        try await withThrowingTaskGroup(of: (TransportResponse, Int).self) { group in
            for (index, (number, size, padding)) in plan.enumerated() {
                if index >= width, let next = try await group.next() { kept.append(next) }
                group.addTask {
                    let response = try await transport.send(request(server, "/\(number)/\(size)/\(padding)"))
                    return (response, index)
                }
            }
            for try await next in group { kept.append(next) }
        }
        #expect(kept.count == plan.count)
        for (response, index) in kept { check(response, plan[index].0, plan[index].1, plan[index].2) }
        await transport.shutdown()
    }

    @Test("A collected response may follow a stream on the same connection")
    func streams() async throws {
        let server = try server()
        let transport = try CurlTransport()
        for (number, size) in Self.sizes.enumerated() {
            var sent = try request(server, "/\(number)/\(size)/10")
            sent.options.delivery = .streamed
            let streamed = try await transport.send(sent)
            let body = try await streamed.body.collect(upTo: 100_000)
            #expect(body == Data(repeating: UInt8(number), count: size))
            #expect(streamed.body.ending?.metrics.bodyBytesReceived == size)
            check(try await transport.send(request(server, "/\(number)/\(size)/10")), number, size, 10)
        }
        #expect(server.connectionCount == 1)
        await transport.shutdown()
    }

    @Test("A request that is cancelled at any time receives its own response or none")
    func cancelled() async throws {
        let server = try server()
        let transport = try CurlTransport()
        for number in 0..<300 {
            let task = Task { try await transport.send(request(server, "/\(number)/300/10")) }
            if number.isMultiple(of: 3) { await Task.yield() }
            task.cancel()
            switch await task.result {
            case .success(let response): check(response, number, 300, 10)
            case .failure(let error): #expect((error as? RequestFailure)?.reason == .cancelled)
            }
        }
        check(try await transport.send(request(server, "/5/300/10")), 5, 300, 10)
        await transport.shutdown()
    }
}
