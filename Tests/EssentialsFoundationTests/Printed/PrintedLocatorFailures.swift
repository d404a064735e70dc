import Foundation
import ServiceEssentials
import Testing

/// Services that fail in many ways.
enum Shop {
    struct Cart: Sendable {}
    struct Till: Sendable {}
    final class Clerk: Sendable {}
    protocol Seller: AnyObject, Sendable {}
    struct Closed: Error, CustomStringConvertible { let description = "the shop is closed" }
}

/// Produces the failures of a locator.
enum LocatorFailureMaker {
    static func all() async throws -> [PrintedFailure] { try await registrations() + references() + factories() }

    private static func thrown(_ title: String, _ body: () async throws -> Void) async throws -> PrintedFailure {
        try await FailureMaker.thrown(title, replacing: [("EssentialsFoundationTests.", "")], body)
    }

    private static func registrations() async throws -> [PrintedFailure] {
        let app = ServiceLocator(name: "app")
        let checkout = ServiceLocator(name: "checkout", parent: app)
        try app.register(1, as: Int.self, named: "limit", fileID: "Shop/App.swift", line: 3)
        let full = ServiceLocator(name: "full", registrationLimit: 0)
        let closed = ServiceLocator(name: "closed")
        await closed.close()
        return try await [
            thrown("A missing service") { _ = try checkout.resolve(Shop.Cart.self) },
            thrown("A service that is registered under a name") { _ = try checkout.resolve(Int.self) },
            thrown("A second registration") {
                try app.register(2, as: Int.self, named: "limit", fileID: "Shop/App.swift", line: 9)
            },
            thrown("Too many registrations") { try full.register(2, as: Int.self, fileID: "Shop/App.swift", line: 9) },
            thrown("An object of another type") {
                try app.register(
                    Shop.Clerk(), as: Shop.Clerk.self, (any Shop.Seller).self, fileID: "Shop/App.swift", line: 9)
            },
            thrown("A closed locator") { _ = try closed.resolve(Int.self) },
        ]
    }

    private static func references() async throws -> [PrintedFailure] {
        let reference = ServiceLocator(name: "scope").reference
        let handle = WeakHandle<Shop.Clerk>(Shop.Clerk(), fileID: "Shop/App.swift", line: 5) { $0 }
        let app = ServiceLocator(name: "app")
        let (entered, gate) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        try app.registerAsync(Shop.Cart.self, fileID: "Shop/App.swift", line: 7) { _ in
            entered.continuation.finish()
            for await _ in gate.stream {}
            return Shop.Cart()
        }
        let waiting = Task { try await app.resolveAsync(Shop.Cart.self) }
        for await _ in entered.stream {}
        waiting.cancel()
        let all = try await [
            thrown("A locator that was released") { _ = try reference.live() },
            thrown("An object that was released") { _ = try handle.live() },
            thrown("An asynchronous factory and a resolve that does not wait") { _ = try app.resolve(Shop.Cart.self) },
            thrown("A task that was cancelled while it waited") { _ = try await waiting.value },
        ]
        gate.continuation.finish()
        return all
    }

    private static func factories() async throws -> [PrintedFailure] {
        let app = ServiceLocator(name: "app")
        let site: StaticString = "Shop/App.swift"
        try app.registerLazy(Shop.Cart.self, fileID: site, line: 1) { _ in throw Shop.Closed() }
        try app.registerTransient(Shop.Till.self, fileID: site, line: 2) { (locator, _: Int) in
            _ = try locator.resolve(Shop.Cart.self)
            return Shop.Till()
        }
        try app.registerAsync(Shop.Clerk.self, fileID: site, line: 3) { locator in
            _ = try locator.resolve(Shop.Till.self, arguments: 1)
            return Shop.Clerk()
        }
        try app.registerLazy(String.self, fileID: site, line: 4) { try $0.resolve(String.self) }
        try app.registerLazy(Double.self, fileID: site, line: 5) { _ in
            _ = try RequestURL("https://ada:\(Secret.user)@a.example/?token=\(Secret.query)")
            return 1
        }
        try app.registerLazy(Bool.self, fileID: site, line: 6) { try $0.resolve(Character.self) == "y" }
        let stocked = Assembly("stock") { _ in throw Shop.Closed() }
        return try await [
            thrown("A factory that fails") { _ = try app.resolve(Shop.Cart.self) },
            thrown("Three nested factories") { _ = try await app.resolveAsync(Shop.Clerk.self) },
            thrown("A factory that needs a missing service") { _ = try app.resolve(Bool.self) },
            thrown("A factory whose request is refused") { _ = try app.resolve(Double.self) },
            thrown("A cycle") { _ = try app.resolve(String.self) },
            thrown("Arguments of other types") { _ = try app.resolve(Shop.Till.self, arguments: "one") },
            thrown("An assembly that fails") { try stocked.install(in: app) },
        ]
    }
}
