import Dispatch
import EssentialsTools
import Testing

@testable import EssentialsPersistence

/// The three forms of a call, and their endings.
struct PersistenceCallTests {
    private let service = MemoryService()
    private let film = Film(title: "M", year: 1931)

    /// Starts a call, and waits for the result that its handler receives.
    private func started<Value>(
        _ call: PersistenceCall<Value>, on queue: DispatchQueue? = nil,
        _ then: (PersistenceJob) -> Void = { _ in }
    ) async -> Result<Value, PersistenceFailure> {
        await withCheckedContinuation { continuation in
            then(service.start(call, completionQueue: queue) { continuation.resume(returning: $0) })
        }
    }

    @Test("A completion handler runs on the given queue")
    func queues() async throws {
        let queue = DispatchQueue(label: "given")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let isThere = await withCheckedContinuation { continuation in
            service.start(save: .store, completionQueue: queue) { [film] in
                try $0.create(film)
            } completion: { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
            }
        }
        #expect(isThere)
        #expect(try await started(.read { try $0.count(Film.all) }).get() == 1)
        #expect(try await started(.read { try $0.one(Film.all) }).get() == film)
        #expect(try await started(.read { try $0.sum(Film.all.values { $0.year }) }).get() == 1931)
    }

    @Test("A blocking call returns its result on the thread that made it")
    func blocking() async throws {
        let service = service
        let film = film
        let count = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let result = Result { () throws -> Int in
                    try service.wait(save: .store) { try $0.create(film) }
                    return try service.wait { try $0.count(Film.all) }
                }
                continuation.resume(returning: try? result.get())
            }
        }
        #expect(count == 1)
        let isBlocking = service.plans.map { $0.isBlocking }
        #expect(isBlocking == [true, true])
    }

    @Test("A call that is cancelled while it waits ends at once and never runs")
    func cancelledWhileWaiting() async {
        service.hold()
        let result = await started(.perform(save: .store) { [film] in try $0.create(film) }) { $0.cancel() }
        #expect(throws: PersistenceFailure(.cancelled, "")) { try result.get() }
        service.release()
        let count = await started(.read { try $0.count(Film.all) })
        #expect((try? count.get()) == 0)
    }

    @Test("A read that is cancelled before its handler runs delivers no value, and a save delivers its success")
    func cancelledLate() async throws {
        let queue = DispatchQueue(label: "late")
        for isRead in [true, false] {
            queue.suspend()
            let call: PersistenceCall<Int> =
                isRead
                ? .read { try $0.count(Film.all) }
                : .perform(save: .store) { try $0.update(Film.all) { (_: inout Film) in } }
            let ended = Mutex(0)
            let result = await withCheckedContinuation { continuation in
                let job = service.start(call, completionQueue: queue) { result in
                    ended.withLock { $0 += 1 }
                    continuation.resume(returning: result)
                }
                // The service runs one job after the other, so the first one has ended when the second one has.
                service.start {
                    try $0.count(Film.all)
                } completion: { _ in
                    job.cancel()
                    queue.resume()
                }
            }
            #expect((try? result.get()) == (isRead ? nil : 0))
            #expect(ended.withLock { $0 } == 1)
        }
    }

    @Test("A cancelled task ends its call as cancelled")
    func cancelledTasks() async {
        service.hold()
        let task = Task { [service, film] () -> PersistenceFailure? in
            do throws(PersistenceFailure) {
                try await service.create(film, save: .store)
                return nil
            } catch {
                return error
            }
        }
        while service.plans.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value?.reason == .cancelled)
    }

    @Test("A job's interruption is called once, and never after it was removed")
    func interruptions() {
        let count = Mutex(0)
        let job = PersistenceJob(PersistenceJob.Plan(.read)) { _ in
        } completion: { _ in
        }
        job.onCancel { count.withLock { $0 += 1 } }
        job.onCancel(nil)
        job.cancel()
        #expect(count.withLock { $0 } == 0)
        #expect(job.isCancelled)
        job.onCancel { count.withLock { $0 += 1 } }
        job.cancel()
        #expect(count.withLock { $0 } == 1)
    }

    @Test("A job ends once, and if a service ends it without running it, there is no value")
    func endings() async {
        let results = Mutex<[Bool]>([])
        let call = PersistenceCall<Int>.read { try $0.count(Film.all) }
        let job = call.job { result in results.withLock { $0.append((try? result.get()) != nil) } }
        job.finish(.success(SaveReport()))
        job.finish(.failure(PersistenceFailure(.full, "")))
        job.cancel()
        #expect(results.withLock { $0 } == [false])
        #expect(throws: PersistenceFailure.self) { try job.run(on: MemoryRows([:])) }
    }
}
