import EssentialsLocator
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Health of services", .timeLimit(.minutes(5)))
struct HealthTests {
    private final class Part: NotifiedPart, NotifiedTool, HealthReporting {
        let status: ServiceHealth.Status
        let asked = Atomic(0)
        private let gate: OneShot<Void>?

        init(_ status: ServiceHealth.Status, after gate: OneShot<Void>? = nil) {
            (self.status, self.gate) = (status, gate)
        }

        func health() async -> ServiceHealth {
            asked.add(1, ordering: .relaxed)
            await gate?.value()
            return ServiceHealth(status, status == .ok ? nil : "It is \(status).", facts: ["asked": "yes"])
        }
    }

    private let locator = ServiceLocator(name: "app")

    @Test("Services that are built are asked once each, whatever they are registered for, and the worst decides")
    func services() async throws {
        let (good, bad) = (Part(.ok), Part(.degraded))
        try locator.register(good, as: (any NotifiedPart).self, named: "good")
        try locator.register(good, as: (any NotifiedTool).self)
        try locator.register(bad, as: (any NotifiedPart).self, named: "bad")
        try locator.register("text", as: String.self)
        let unbuilt = Part(.failed)
        try locator.registerLazy((any NotifiedPart).self, named: "unbuilt") { _ in unbuilt }
        let report = await locator.health(within: .seconds(60))
        #expect(report.services.map(\.health.status) == [.ok, .degraded])
        #expect(
            report.services[0].service.contains("NotifiedPart") && report.services[0].service.contains("NotifiedTool"))
        #expect(report.services[1].health.message == "It is degraded.")
        #expect(report.status == .degraded && report.isReady && report.isAlive && report.locator == "app")
        #expect(good.asked.load(ordering: .relaxed) == 1 && unbuilt.asked.load(ordering: .relaxed) == 0)
        _ = try locator.resolve((any NotifiedPart).self, named: "unbuilt")
        #expect(await locator.health(within: .seconds(60)).isReady == false)
    }

    @Test("Silence counts as degraded, and others are still heard")
    func silence() async throws {
        let gate = OneShot<Void>()
        try locator.register(Part(.ok, after: gate), as: (any NotifiedPart).self)
        try locator.register(Part(.ok), as: (any NotifiedTool).self)
        let report = await locator.health(within: .seconds(2))
        #expect(report.services.map(\.health.status) == [.degraded, .ok])
        #expect(report.services[0].health.message?.contains("not answered") == true && report.isReady)
        gate.provide(())
        #expect(await locator.health(within: .seconds(600)).status == .ok)
    }

    @Test(
        "A locator that is ending is not ready, and one that is closed is not alive; parents and weak services are others'"
    )
    func ending() async throws {
        #expect(await locator.health(within: .seconds(60)).isReady)
        let child = ServiceLocator(name: "child", parent: locator)
        try locator.register(Part(.failed), as: (any NotifiedTool).self)
        let part = Part(.failed)
        try child.registerWeak(part, as: (any NotifiedPart).self) { $0 }
        #expect(await child.health(within: .seconds(60)).isReady)
        let gate = OneShot<Void>()
        final class Slow: Closeable {
            let gate: OneShot<Void>
            init(_ gate: OneShot<Void>) { self.gate = gate }
            func finish(within grace: Duration) async { await gate.value() }
            func close() async {}
        }
        try child.register(Slow(gate), as: Slow.self)
        let closing = Task { await child.close(grace: .seconds(600)) }
        while !child.isEnding { await Task.yield() }
        let report = await child.health(within: .seconds(60))
        #expect(!report.isReady && report.isAlive && report.status == .ok)
        gate.provide(())
        await closing.value
        #expect(await child.health(within: .seconds(60)).isAlive == false)
        _ = part
    }

    @Test("A report is encoded and decoded")
    func coding() async throws {
        try locator.register(Part(.failed), as: (any NotifiedPart).self)
        let report = await locator.health(within: .seconds(60))
        let data = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(HealthReport.self, from: data) == report)
        #expect(String(decoding: data, as: UTF8.self).contains(#""isReady":false"#))
    }
}
