import Testing

@testable import EssentialsLocator

extension SemanticsTests {
    /// The lines of a process's standard error that warn.
    private func warnings(_ content: [UInt8]) -> [String] {
        String(decoding: content, as: UTF8.self).split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("warning: ")
        }
    }

    // Row 17
    @Test("The first resolve that finds a temporary gone says so once, though the parent has the service")
    func warnsOfTemporary() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent],
            performing: {
                let root = ServiceLocator(name: "root")
                let child = ServiceLocator(name: "child", parent: root)
                try root.register(PoliteGreeter("root"), as: (any Greeter).self)
                try child.registerWeak(PoliteGreeter(), as: (any Greeter).self, fileID: "App/Cart.swift", line: 7) {
                    $0
                }
                for _ in 0..<3 {
                    demand(try child.resolve((any Greeter).self).greeting == "root")
                    let greeter = try await child.resolveAsync((any Greeter).self)
                    demand(greeter.greeting == "root")
                }
            })
        let expected =
            "warning: serviceGone: The object of \(greeterType) in \"child\", made weak at App/Cart.swift:7, was gone "
            + "before anybody resolved it, as a temporary is. Keep the object where it is owned for as long as it is "
            + "used, or register it strongly."
        #expect(warnings(result.standardErrorContent) == [expected])
    }

    // Row 17
    @Test("Nothing is said of an object that was resolved and is gone, nor of one that a proxy stood for")
    func warnsOfNothingElse() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent],
            performing: {
                let locator = ServiceLocator(name: "app")
                let type = (any Greeter).self
                do {
                    let greeter = PoliteGreeter()
                    try locator.registerWeak(greeter, as: type) { $0 }
                    demand(locator.look(for: type, name: nil).weakSlot == nil)
                    demand(try locator.resolve(type) === greeter)
                    // From now on a search loads it without asking.
                    demand(locator.look(for: type, name: nil).weakSlot != nil)
                    demand(try locator.resolve(type) === greeter)
                    try locator.registerWeakProxy(greeter, as: type, named: "proxy") { _ in PoliteGreeter() }
                }
                demand(try locator.resolveOptional(type) == nil)
                demand(try locator.resolveOptional(type, named: "proxy") == nil)
            })
        #expect(warnings(result.standardErrorContent) == [])
    }
}
