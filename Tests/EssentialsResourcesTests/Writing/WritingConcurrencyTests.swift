import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import TestTools
import Testing

/// Run this with the thread sanitizer too.
@Suite("Resource: writing from many tasks", .leavesNothing, .timeLimit(.minutes(5)))
struct WritingConcurrencyTests {
    @Test("Tasks that write, load, override and wipe at the same time leave no change behind", arguments: 0..<4)
    func everything(seed: UInt64) async throws {
        let shop = try await CartFixture()
        for method in [HTTPRequest.Method.patch, .put, .post, .delete] {
            shop.transport.on(method, "/v1/cart").answer { request in
                if request.body.count.isMultiple(of: 3) { return ScriptedAnswer(.conflict) }
                return ScriptedAnswer(.noContent, headerFields: [.eTag: "\"2\""])
            }
        }
        let cart = shop.cart
        let observation = cart.observeSynchronously { _ in _ = cart.content }
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var numbers = SeededNumbers(state: seed &* 8 &+ UInt64(task))
                    for step in 0..<100 { await Self.act(on: cart, "\(task)-\(step)", &numbers) }
                }
            }
        }
        #expect(cart.state.pending == 0, "seed \(seed)")
        #expect(cart.any.runningRequests.isEmpty, "seed \(seed)")
        #expect(cart.state.provenance != .optimistic)
        // The queue is free: another write is sent.
        let count = shop.transport.requestCount
        _ = try? await cart.post("x")
        #expect(shop.transport.requestCount == count + 1)
        observation.cancel()
    }

    private static func act(on cart: Resource<Cart>, _ name: String, _ numbers: inout SeededNumbers) async {
        let options: WriteOptions = Bool.random(using: &numbers) ? .concurrent : []
        switch Int.random(in: 0..<12, using: &numbers) {
        case 0, 1, 2, 3: _ = try? await cart.patch(name, options, optimistically: { $0.items.append(name) })
        case 4: _ = try? await cart.put(Cart(items: [name]), options, optimistically: { $0.items = [name] })
        case 5: _ = try? await cart.post(name, options, optimistically: { $0.items.append(name) })
        case 6: _ = try? await cart.delete(options)
        case 7: _ = try? await cart.load()
        case 8: cart.override(with: Cart(items: [name]))
        case 9: cart.update { $0.items.append(name) }
        case 10: cart.wipe(Bool.random(using: &numbers) ? .loads : .includingWrites)
        default:
            let task = Task { try await cart.patch(name, options, optimistically: { $0.items.append(name) }) }
            await Task.yield()
            task.cancel()
            _ = await task.result
        }
    }
}
