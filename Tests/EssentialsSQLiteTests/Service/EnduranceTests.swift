import TestTools

#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// Many calls and many scopes.
    @Suite(.timeLimit(.minutes(5)))
    struct EnduranceTests {
        /// Counts the calls of completion handlers.
        private final class Endings: Sendable {
            private let counts: Mutex<[Int]>
            private let group = DispatchGroup()

            init(_ count: Int) {
                counts = Mutex(Array(repeating: 0, count: count))
                for _ in 0..<count { group.enter() }
            }

            func end(_ number: Int) {
                let isFirst = counts.withLock { counts in
                    counts[number] += 1
                    return counts[number] == 1
                }
                if isFirst { group.leave() }
            }

            func all() async -> [Int] {
                await withCheckedContinuation { continuation in
                    group.notify(queue: .global()) { continuation.resume() }
                }
                return counts.withLock { $0 }
            }
        }

        private static let calls = 1_000
        private static let scopes = 3_000

        @Test("A thousand calls that are cancelled at random moments end once each, and the store keeps working")
        func cancellations() async throws {
            let seed = UInt64.random(in: .min ... .max)
            print("seed of the cancellations: \(seed)")
            var numbers = SeededNumbers(state: seed)
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.create((0..<50).map { Note(id: $0, year: 0) }, save: .store)
            let edits = try store.child("edit", resolving: .mine)
            let endings = Endings(Self.calls)
            let reasons = Mutex<Set<String>>([])
            for number in 0..<Self.calls {
                let service: any PersistenceService = Bool.random(using: &numbers) ? edits : store
                let done: @Sendable (PersistenceFailure?) -> Void = { failure in
                    if let failure { reasons.withLock { _ = $0.insert(failure.reason.name) } }
                    endings.end(number)
                }
                let level = SaveLevel.allCases.randomElement(using: &numbers) ?? .store
                let job =
                    switch Int.random(in: 0..<6, using: &numbers) {
                    case 0:
                        service.start {
                            try $0.count(Note.where { $0.year >= 0 })
                        } completion: {
                            done($0.failure)
                        }
                    case 1: service.start(.fetch(Note.self, ids: [1, 2, 3])) { done($0.failure) }
                    case 2: service.start(.save(level, resolving: .mine)) { done($0.failure) }
                    case 3:
                        service.start {
                            try $0.reserveIDs(for: Note.self, count: 3)
                        } completion: {
                            done($0.failure)
                        }
                    case 4:
                        service.start(.importRows([Note(id: 60, year: 1)], onConflict: .replace)) { done($0.failure) }
                    default:
                        service.start(save: level, resolving: .mine) {
                            try $0.update(Note.where { $0.id < 50 }) { $0.year = 1 - $0.year }
                        } completion: {
                            done($0.failure)
                        }
                    }
                for _ in 0..<Int.random(in: 0..<4, using: &numbers) { await Task.yield() }
                if Int.random(in: 0..<5, using: &numbers) > 0 { job.cancel() }
            }
            #expect(await endings.all() == Array(repeating: 1, count: Self.calls))
            #expect(reasons.withLock { $0 } == ["cancelled"])
            try await edits.save(.store)
            // Each call has changed all rows or none.
            #expect(try await store.values(Note.where { $0.id < 50 }.values { $0.year }.distinct()).count == 1)
            await store.close()
            #expect(await endings.all() == Array(repeating: 1, count: Self.calls))
        }

        @Test("Thousands of scopes that are opened, used and closed or released leave no row and no descriptor behind")
        func scopes() async throws {
            let description = SQLiteStore.temporary(models: [Note.self])
            let store = SQLitePersistenceService(description, migrations: [Note.migration])
            try await store.create(Note(id: 0, year: 0), save: .store)
            _ = try await use(store, 100)
            let (before, descriptors) = (resident(), descriptors(of: description.path))
            let used = try await use(store, Self.scopes)
            // Other tests share the process, so its memory is not checked here.
            let grown = (resident() - before) / 1024
            print("memory after \(Self.scopes) scopes: \(grown) KiB more than \(before / 1024)")
            #expect(used.allSatisfy { $0.isReleased })
            #expect(self.descriptors(of: description.path) <= max(descriptors, 24))
            #expect(try store.core.openStore().mounts.count <= 8)
            await store.close()
        }

        /// Shows whether a scope and its rows are in memory.
        private struct Trace {
            weak var scope: (any PersistenceService)?
            weak var level: ScopeLevel?

            var isReleased: Bool { scope == nil && level == nil }
        }

        private func use(_ store: SQLitePersistenceService, _ count: Int) async throws -> [Trace] {
            var traces: [Trace] = []
            for number in 1...count {
                let scope = try store.child("scope")
                try await scope.create(Note(id: Int64(number), year: 1), save: .pending)
                if number % 4 == 0 { #expect(try await scope.count(Note.all) == 2) }
                if number % 2 == 0 { await scope.close() }
                traces.append(Trace(scope: scope, level: (scope as? SQLitePersistenceService)?.level))
            }
            // The end of a released scope is handled in the background.
            while traces.contains(where: { !$0.isReleased }) { await Task.yield() }
            return traces
        }

        /// The number of bytes of the process that are in memory.
        private func resident() -> Int {
            guard let file = fopen("/proc/self/statm", "r") else { return 0 }
            defer { fclose(file) }
            var text: [CChar] = Array(repeating: 0, count: 256)
            guard fgets(&text, 256, file) != nil else { return 0 }
            let words = String(decoding: text.map(UInt8.init(bitPattern:)), as: UTF8.self).split(separator: " ")
            return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        }

        /// The number of descriptors of files whose path begins with this one.
        private func descriptors(of path: String) -> Int {
            var count = 0
            for number in 0..<1024 {
                var target: [CChar] = Array(repeating: 0, count: 512)
                let length = readlink("/proc/self/fd/\(number)", &target, 512)
                guard length > 0 else { continue }
                let name = String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
                if name.hasPrefix(path) { count += 1 }
            }
            return count
        }
    }

    extension Result {
        fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
    }
#endif
