import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import Testing

/// Writes over a real connection.
@Suite("Resource: writing over a connection", .leavesNothing, .timeLimit(.minutes(5)))
struct WritingLoopbackTests {
    /// A cart on a server, with an entity tag that changes with it.
    private final class CartServer: Sendable {
        struct State {
            var items = ["a"]
            var version = 1
            var bodies: [String] = []
        }

        let state = Mutex(State())

        func reply(to request: ServerRequest) -> ServerReply {
            state.withLock { state in
                let ifMatch = request.headers.first { $0.name.lowercased() == "if-match" }?.value
                if let ifMatch, ifMatch != "\"\(state.version)\"" { return .response(status: 412) }
                let text = String(decoding: request.body, as: UTF8.self)
                switch request.method {
                case "GET": break
                case "PATCH" where text == "refused": return .response(status: 409)
                default:
                    state.items.append(text)
                    state.bodies.append(text)
                    state.version += 1
                    return .response(status: 204, headers: [("ETag", "\"\(state.version)\"")])
                }
                let items = state.items.map { "\"\($0)\"" }.joined(separator: ",")
                return .response(
                    headers: [("Content-Type", "application/json"), ("ETag", "\"\(state.version)\"")],
                    body: "{\"items\":[\(items)]}")
            }
        }

        /// Another client changes the cart.
        func change() {
            state.withLock { state in
                state.items.append("theirs")
                state.version += 1
            }
        }
    }

    private func withCart(_ body: (CartServer, Resource<Cart>) async throws -> Void) async throws {
        let cart = CartServer()
        let server = try LoopbackServer { cart.reply(to: $0) }
        let environment = try ConstantEnvironment(server.url + "/v1")
        let requests = HTTPDataRequestService(environment: environment, transport: try CurlTransport())
        let service = try HTTPResourceService(requests: requests, environment: environment)
        do {
            try await body(cart, service.resource("cart"))
        } catch {
            await requests.shutdown()
            throw error
        }
        await requests.shutdown()
        server.stop()
    }

    @Test("A write that fails with 412 is undone, and the change of another client is loaded")
    func preconditionFailed() async throws {
        try await withCart { server, cart in
            try await cart.load()
            server.change()
            let failure = await #expect(throws: RequestFailure.self) {
                try await cart.patch("b", .ifUnchanged, optimistically: { $0.items.append("b") })
            }
            #expect(failure?.status == .preconditionFailed)
            for await state in cart.states where !state.isLoading && state.pending == 0 { break }
            #expect(cart.content == Cart(items: ["a", "theirs"]))
            #expect(server.state.withLock { $0.bodies } == [])
            try await cart.patch("b", .ifUnchanged, optimistically: { $0.items.append("b") })
            #expect(server.state.withLock { $0.bodies } == ["b"])
        }
    }

    @Test("An optimistic change that the server refuses is undone")
    func undone() async throws {
        try await withCart { _, cart in
            try await cart.load()
            let events = Mutex<[String]>([])
            let observation = cart.observeSynchronously { change in
                let items = change.state.content?.items.joined() ?? ""
                switch change.event {
                case .layered: events.withLock { $0.append("layered \(items)") }
                case .undone(let failure): events.withLock { $0.append("undone \(items) \(failure.reason.name)") }
                default: break
                }
            }
            await expectFailure(.status) {
                try await cart.patch("refused", optimistically: { $0.items.append("b") })
            }
            #expect(events.withLock { $0 } == ["layered ab", "undone a status"])
            observation.cancel()
        }
    }

    @Test("Two quick writes reach the server in their order, and the second is based on the first")
    func twoWrites() async throws {
        try await withCart { server, cart in
            try await cart.load()
            let first = Task.immediate {
                try await cart.patch("b", .ifUnchanged, optimistically: { $0.items.append("b") })
            }
            let second = Task.immediate {
                try await cart.patch("c", .ifUnchanged, optimistically: { $0.items.append("c") })
            }
            #expect(cart.content == Cart(items: ["a", "b", "c"]))
            _ = try await (first.value, second.value)
            #expect(server.state.withLock { $0.bodies } == ["b", "c"])
            #expect(cart.content == Cart(items: ["a", "b", "c"]))
            #expect(try await cart.load() == Cart(items: ["a", "b", "c"]))
        }
    }
}
