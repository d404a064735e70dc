import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

struct Cart: Codable, Sendable, Equatable {
    var items: [String] = []
}

/// A resource with content that was loaded with the entity tag "1".
struct CartFixture {
    let fixture: ResourceFixture
    let cart: Resource<Cart>
    var transport: ScriptedTransport { fixture.transport }
    var service: HTTPResourceService { fixture.service }

    init(_ items: [String] = ["a"], tag: String = "\"1\"") async throws {
        fixture = try ResourceFixture()
        cart = fixture.service.resource("cart")
        fixture.transport.on(.get, "/v1/cart").answer(json: Cart(items: items), headerFields: [.eTag: tag])
        try await cart.load()
    }
}

/// Responds to each write on demand.
final class HeldWrites: Sendable {
    private let latches = Mutex<[Int: Latch]>([:])
    private let answers = Mutex<[Int: ScriptedAnswer]>([:])
    private let count = Mutex(0)

    init(_ shop: CartFixture, _ method: HTTPRequest.Method = .patch) {
        shop.transport.on(method, "/v1/cart").answer { [self] _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            await latch(number).wait()
            return answers.withLock { $0[number] } ?? ScriptedAnswer(.noContent)
        }
    }

    private func latch(_ number: Int) -> Latch {
        latches.withLock { latches in
            if let latch = latches[number] { return latch }
            let latch = Latch()
            latches[number] = latch
            return latch
        }
    }

    /// Responds to the write with this number, counted from 1.
    func answer(_ number: Int, _ answer: ScriptedAnswer = ScriptedAnswer(.noContent)) {
        answers.withLock { $0[number] = answer }
        latch(number).open()
    }
}

/// Waits until a condition holds, because of work on other tasks. The time limit of the suite ends the wait.
func settled(_ isSo: () -> Bool) async {
    while !isSo(), !Task.isCancelled { await Task.yield() }
}

/// Expects a failure for a reason, with any message.
func expectFailure<Result>(
    _ reason: RequestFailure.Reason, sourceLocation: SourceLocation = #_sourceLocation,
    _ operation: () async throws -> Result
) async {
    let failure = await #expect(throws: RequestFailure.self, sourceLocation: sourceLocation) {
        _ = try await operation()
    }
    #expect(failure?.reason == reason, sourceLocation: sourceLocation)
}
