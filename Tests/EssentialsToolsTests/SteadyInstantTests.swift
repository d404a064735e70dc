import Testing

@testable import EssentialsTools

@Suite("Instants with a known size")
struct SteadyInstantTests {
    @Test("An instant is the same on the clock of the standard library, and both run alike")
    func conversion() async throws {
        let before = ContinuousClock.now
        let instant = SteadyInstant.now
        let after = ContinuousClock.now
        // The two clocks are read one after the other, and both may be rounded.
        let tolerance = Duration.milliseconds(50)
        #expect(instant.instant > before - tolerance && instant.instant < after + tolerance)
        #expect(SteadyInstant(instant.instant) == instant)
        let start = (SteadyInstant.now, ContinuousClock.now)
        try await Task.sleep(for: .milliseconds(20))
        let passed = SteadyInstant.now - start.0
        #expect(passed >= .milliseconds(20) && passed <= ContinuousClock.now - start.1 + tolerance)
    }

    @Test("Durations are added and subtracted, and what is beyond 292 years stays at the end")
    func arithmetic() {
        let now = SteadyInstant.now
        #expect((now + .nanoseconds(7)) - now == .nanoseconds(7))
        #expect((now - .seconds(3)) - now == .seconds(-3))
        #expect(now - .seconds(1) < now && now < now + .nanoseconds(1))
        #expect(now + .seconds(Int64.max) > now && now - .seconds(Int64.max) < now)
        #expect(now + .seconds(Int64.max) == now + .seconds(1 << 50))
    }

    @Test("An instant takes eight bytes")
    func size() { #expect(MemoryLayout<SteadyInstant>.size == 8) }
}
