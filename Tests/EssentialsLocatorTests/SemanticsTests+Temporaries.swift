import Testing

@testable import EssentialsLocator

extension SemanticsTests {
    /// The warnings among the lines of a process's standard error.
    private func warnings(_ content: [UInt8]) -> [String] {
        String(decoding: content, as: UTF8.self).split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("warning: ")
        }
    }

    @Test("The first resolve of a released temporary prints one warning, even if the parent has the service")
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
            "warning: serviceGone: The weak object of \(greeterType) in \"child\", registered at App/Cart.swift:7, was "
            + "released before it was resolved, like any temporary. Keep the object where it is owned for as long as it "
            + "used, or register it strongly."
        #expect(warnings(result.standardErrorContent) == [expected])
    }

    @Test("A resolve that finds a weak object released after an earlier resolve, or behind a proxy, does not warn")
    func doesNotWarn() throws {
        let warnings = Recorder<ServiceLocatorError>()
        let locator = ServiceLocator.silent("app", warnings: warnings)
        let type = (any Greeter).self
        do {
            let greeter = PoliteGreeter()
            try locator.registerWeak(greeter, as: type) { $0 }
            #expect(try locator.resolve(type) === greeter)
            #expect(try locator.resolve(type) === greeter)
            try locator.registerWeakProxy(greeter, as: type, named: "proxy") { _ in PoliteGreeter() }
        }
        #expect(try locator.resolveOptional(type) == nil)
        #expect(try locator.resolveOptional(type, named: "proxy") == nil)
        #expect(warnings.all.isEmpty)
    }
}
