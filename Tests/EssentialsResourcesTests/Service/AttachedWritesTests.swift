import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import Testing

@testable import EssentialsResources

@Suite("Attached writes", .timeLimit(.minutes(5)))
struct AttachedWritesTests {
    /// Writes whose sending does not end until the test releases them.
    private final class StuckWrites: PendingWrites {
        let begun = OneShot<Duration>()
        let end = OneShot<Void>()
        let wasCancelled = OneShot<Bool>()

        func sendPending(waitingAtMost deadline: Duration) async {
            begun.provide(deadline)
            await end.value()
            wasCancelled.provide(Task.isCancelled)
        }
    }

    @Test("Resources stop waiting for writes that exceed their deadline, and the writes are not cancelled")
    func stuck() async {
        let (clock, attached, writes) = (ManualClock(), AttachedWrites(), StuckWrites())
        attached.add(writes, waiting: .seconds(10))
        let sent = OneShot<Void>()
        Task {
            await attached.send(clock.requestClock)
            sent.provide(())
        }
        #expect(await writes.begun.value() == .seconds(10))
        await clock.waitForSleepers(count: 1)
        #expect(!sent.isProvided)
        clock.advance(by: .seconds(10))
        await sent.value()
        writes.end.provide(())
        #expect(await writes.wasCancelled.value() == false)
    }

    @Test("Attached writes are not kept alive, and detached ones are not sent")
    func released() async {
        let (attached, kept) = (AttachedWrites(), StuckWrites())
        weak var released: StuckWrites?
        do {
            let writes = StuckWrites()
            released = writes
            attached.add(writes, waiting: .seconds(10))
        }
        #expect(released == nil)
        attached.add(kept, waiting: .seconds(10))
        attached.remove(kept)
        await attached.send(ManualClock().requestClock)
        #expect(!kept.begun.isProvided)
    }
}
