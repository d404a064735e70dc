import EssentialsTestKit
import EssentialsTools
import Testing

@testable import EssentialsResources

#if DEBUG
    /// Makes a test fail if resources, readers or observations that it has created are alive after it.
    struct LeavesNothingTrait: TestTrait, SuiteTrait, TestScoping {
        var isRecursive: Bool { true }

        func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
        ) async throws {
            let objects = LiveObjects()
            try await LiveObjects.$current.withValue(objects) { try await function() }
            // Tasks and queues that the test has begun may still hold an object for a moment.
            let limit = ContinuousClock.now + .seconds(20)
            while !objects.counts.isEmpty, ContinuousClock.now < limit { await Task.yield() }
            #expect(objects.counts.isEmpty, sourceLocation: test.sourceLocation)
        }
    }
#else
    /// Objects are not counted in release builds.
    struct LeavesNothingTrait: TestTrait, SuiteTrait {}
#endif

extension Trait where Self == LeavesNothingTrait {
    /// Makes a test fail if resources, readers or observations that it has created are alive after it.
    static var leavesNothing: Self { LeavesNothingTrait() }
}
