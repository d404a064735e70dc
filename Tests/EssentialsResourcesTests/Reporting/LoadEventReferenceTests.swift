import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Events of many loads at once", .leavesNothing, .timeLimit(.minutes(5)))
struct LoadEventReferenceTests {
    private static let paths = ["a", "b", "c"]

    /// Answers by chance: content, a confirmation, a failure, and each of them late.
    private static func answer(_ numbers: SeededNumbers) -> @Sendable (RecordedRequest) async throws -> ScriptedAnswer {
        let numbers = Mutex(numbers)
        return { request in
            let (kind, waits) = numbers.withLock {
                (Int.random(in: 0..<8, using: &$0), Int.random(in: 0..<4, using: &$0))
            }
            for _ in 0..<waits * 20 { await Task.yield() }
            let isConditional = request.headerFields[.ifNoneMatch] != nil
            switch kind {
            case 0: return ScriptedAnswer(.internalServerError)
            case 1: throw RequestFailure(.connection, "The connection was lost.")
            case 2 where isConditional: return ScriptedAnswer(.notModified)
            default:
                let fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=\(kind % 2)"]
                return ScriptedAnswer(.ok, json: kind, headerFields: fields)
            }
        }
    }

    @Test(
        "Each load begins once and ends once, whatever happens to its resource",
        arguments: 1...UInt64(Rounds.atOnce(20)))
    func random(seed: UInt64) async throws {
        var numbers = SeededNumbers(state: seed)
        let stories = LoadStories()
        let fixture = try ResourceFixture { $0.observers = [stories] }
        fixture.transport.on { _ in true }.answer(Self.answer(SeededNumbers(state: seed &+ 99)))
        let service = fixture.service
        var tasks: [Task<Void, Never>] = []
        var observations: [ResourceObservation] = []
        for step in 0..<200 {
            let item: Resource<Int> = service.resource(Self.paths.randomElement(using: &numbers) ?? "a")
            switch Int.random(in: 0..<14, using: &numbers) {
            case 0..<4: tasks.append(Task { _ = try? await item.loadIfNeeded() })
            case 4..<6: tasks.append(Task { _ = try? await item.load() })
            case 6: item.startLoad()
            case 7: item.cancelLoads()
            case 8: tasks.randomElement(using: &numbers)?.cancel()
            case 9: item.override(with: step)
            case 10: item.invalidate()
            case 11: item.wipe()
            case 12:
                if observations.count > 4 { observations.removeFirst().cancel() }
                observations.append(item.observeSynchronously { _ in })
                item.loadForObserver()
            default:
                let base = "https://h\(Int.random(in: 0..<3, using: &numbers))/v1/"
                fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL(base)))
                service.adoptEnvironment()
            }
            for _ in 0..<Int.random(in: 0..<30, using: &numbers) { await Task.yield() }
        }
        for observation in observations { observation.cancel() }
        for task in tasks { await task.value }
        await service.close()
        let last = Self.paths.map { service.resource($0, as: Int.self) }
        while last.contains(where: { $0.state.isLoading }) { await Task.yield() }
        await Self.settle(stories)
        #expect(stories.problems() == [])
        // The changes that were told lead to the states that are shown.
        for item in last {
            let shown = stories.events.last {
                if case .changed = $0.kind { $0.resource == item.url } else { false }
            }
            guard let shown, case .changed(let change) = shown.kind else { continue }
            switch change {
            case .wiped: #expect(item.content == nil && item.state.failure == nil)
            case .failed(let failure): #expect(item.state.failure?.reason == failure.reason)
            case .newContent: #expect(item.content != nil && item.state.failure == nil)
            default: break
            }
        }
    }

    /// Waits until no more events come.
    private static func settle(_ stories: LoadStories) async {
        var count = -1
        while stories.events.count != count || !stories.problems().isEmpty {
            count = stories.events.count
            for _ in 0..<1_000 { await Task.yield() }
            if !stories.problems(ofEnded: false).isEmpty { return }
        }
    }
}
