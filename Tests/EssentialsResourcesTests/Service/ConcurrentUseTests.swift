import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@Suite("Concurrent use of resources", .leavesNothing)
struct ConcurrentUseTests {
    @Test("Tasks use 16 resources in all ways while the environment changes 100 times: versions grow, every wait ends")
    func everything() async throws {
        let fixture = try ResourceFixture()
        let (environment, service) = (fixture.environment, fixture.service)
        fixture.transport.on { _ in true }.answer { request in
            // A response says which environment it came from.
            ScriptedAnswer(json: Item(name: String(request.url.path.split(separator: "/").first ?? "")))
        }
        let seed = UInt64.random(in: .min ... .max)
        let bases = try (2...101).map { try RequestURL("https://h/v\($0)/") }
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var numbers = SeededNumbers(state: seed &+ UInt64(task))
                    let watch = VersionWatch()
                    for _ in 0..<100 {
                        let item: Resource<Item> = service.resource("items/\(Int.random(in: 0..<16, using: &numbers))")
                        switch Int.random(in: 0..<9, using: &numbers) {
                        case 0: _ = try? await item.load()
                        case 1: _ = try? await item.loadIfNeeded()
                        case 2: item.startLoad()
                        case 3: item.override(with: Item(name: "own"))
                        case 4: item.wipe()
                        case 5: item.invalidate()
                        case 6: _ = try? await item.patch(Item(name: "p"), optimistically: { $0.name = "layer" })
                        case 7: await watch.observe(item)
                        default: for await state in item.states(loading: .ifNeeded) where !state.isLoading { break }
                        }
                    }
                    #expect(watch.problems == [], "seed \(seed)")
                }
            }
            group.addTask {
                for base in bases {
                    environment.set(EnvironmentSnapshot(baseURL: base))
                    // The changes are spread over the time that the others take.
                    _ = try? await service.resource("items/0", as: Item.self).load()
                }
            }
        }
        #expect(environment.version == 100)
        #expect(service.resourceCount == 16)
        for number in 0..<16 {
            let item: Resource<Item> = service.resource("items/\(number)")
            item.wipe(.includingWrites)
            #expect(try await item.load().name == "v101", "seed \(seed)")
            #expect(item.content?.name == "v101")
            #expect(item.state.pending == 0)
            #expect(item.observerCount == 0)
        }
    }
}

/// Observes resources for a moment, and checks the order of the received states.
private final class VersionWatch: Sendable {
    private let found = Mutex<[String]>([])

    var problems: [String] { found.withLock { $0 } }

    func observe(_ item: Resource<Item>) async {
        let last = Mutex<UInt64?>(nil)
        let isOver = Mutex(false)
        let observation = item.observe { [self] change in
            let version = change.state.version
            let earlier = last.withLock { last in
                defer { last = version }
                return last
            }
            if let earlier, version <= earlier {
                found.withLock { $0.append("version \(version) after \(earlier): \(change.event)") }
            }
            if isOver.withLock({ $0 }) { found.withLock { $0.append("\(change.event) after the end") } }
        }
        _ = try? await item.loadIfNeeded()
        observation.cancel()
        // A call that had begun may still be running.
        for _ in 0..<20 { await Task.yield() }
        isOver.withLock { $0 = true }
    }
}
