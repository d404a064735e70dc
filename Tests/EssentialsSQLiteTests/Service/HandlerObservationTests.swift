#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    /// Observations whose elements are passed to a handler.
    @Suite(.timeLimit(.minutes(5)))
    struct HandlerObservationTests {
        private let fixture: StoreFixture
        private let store: SQLitePersistenceService

        init() throws {
            fixture = try StoreFixture()
            store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
        }

        @Test("A handler receives each state in order, on the given queue")
        func queues() async throws {
            let queue = DispatchQueue(label: "handler")
            let key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            let (stream, continuation) = AsyncStream<(count: Int, isOnQueue: Bool)>.makeStream()
            let observation = store.observe(Company.all, queue: queue) { result in
                let isOnQueue = DispatchQueue.getSpecific(key: key) == true
                continuation.yield(((try? result.get().count) ?? -1, isOnQueue))
            }
            var expected = 0
            for await (count, isOnQueue) in stream {
                #expect(count == expected && isOnQueue)
                expected += 1
                if expected == 4 { break }
                try await store.create(Company(id: Int64(expected), name: "\(expected)"), save: .store)
            }
            observation.cancel()
        }

        @Test("Without a given queue, a handler runs serially and not on the main queue")
        func ownQueue() async throws {
            let (stream, continuation) = AsyncStream<Bool>.makeStream()
            let isRunning = Mutex(false)
            let observation = store.observe(Company.all) { _ in
                let wasRunning = isRunning.withLock { running in
                    defer { running = true }
                    return running
                }
                dispatchPrecondition(condition: .notOnQueue(.main))
                isRunning.withLock { $0 = false }
                continuation.yield(wasRunning)
            }
            var count = 0
            for await wasRunning in stream {
                #expect(!wasRunning)
                count += 1
                if count == 3 { break }
                try await store.create(Company(id: Int64(count), name: "\(count)"), save: .store)
            }
            observation.cancel()
        }

        @Test("After cancel on its queue, a handler is not called, even if a state was already submitted")
        func cancelling() async throws {
            let queue = DispatchQueue(label: "handler")
            let calls = Mutex(0)
            let observation = store.observe(Company.all, queue: queue) { _ in calls.withLock { $0 += 1 } }
            // A state may have been submitted to the queue, before or after this block.
            await withCheckedContinuation { continuation in
                queue.async {
                    observation.cancel()
                    let before = calls.withLock { $0 }
                    try? store.wait(save: .store) { try $0.create(Company(id: 1, name: "Ufa")) }
                    #expect(calls.withLock { $0 } == before)
                    continuation.resume()
                }
            }
            let before = calls.withLock { $0 }
            try await store.create(Company(id: 2, name: "Nero"), save: .store)
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
            #expect(calls.withLock { $0 } == before)
        }

        @Test("A handler is released with its observation, and so is the scope")
        func releasing() async throws {
            final class Token: Sendable {
                let onEnd: @Sendable () -> Void
                init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
                deinit { onEnd() }
            }
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            let (calls, called) = AsyncStream<Void>.makeStream()
            var observation: PersistenceObservation?
            do {
                let token = Token { continuation.finish() }
                observation = store.observe(Company.all) { _ in withExtendedLifetime(token) { _ = called.yield() } }
            }
            for await _ in calls { break }
            #expect(observation != nil)
            observation = nil
            for await _ in stream {}
        }

        @Test("A failure is the last call of a handler")
        func failures() async throws {
            let edits = try store.child("edit")
            await edits.close()
            let (stream, continuation) = AsyncStream<PersistenceFailure.Reason?>.makeStream()
            let observation = edits.observe(Company.all) { result in
                if case .failure(let failure) = result { continuation.yield(failure.reason) }
                continuation.finish()
            }
            var reasons: [PersistenceFailure.Reason?] = []
            for await reason in stream { reasons.append(reason) }
            #expect(reasons == [.closed])
            observation.cancel()
        }

        @Test("A handler that changes rows, blocks and saves to the store blocks neither itself nor others")
        func writing() async throws {
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            let store = store
            let observation = store.observe(Company.all) { result in
                let count = (try? result.get().count) ?? -1
                if (0..<5).contains(count) {
                    try? store.wait(save: .store) { try $0.create(Company(id: Int64(count), name: "\(count)")) }
                }
                continuation.yield(count)
            }
            for await count in stream where count == 5 { break }
            #expect(try await store.count(Company.all) == 5)
            observation.cancel()
        }

        @Test("An observation inside a unit of work begins when the work has ended")
        func insideWork() async throws {
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            let store = store
            let observation = try await store.perform(save: .store) { work in
                try work.create(Company(id: 1, name: "Ufa"))
                return store.observe(Company.all) { continuation.yield((try? $0.get().count) ?? -1) }
            }
            for await count in stream where count == 1 { break }
            observation.cancel()
        }
    }
#endif
