import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

/// A slow model of the resources of a service after changes of the base: a list that is searched from its beginning.
private final class ModelService {
    final class Entry {
        var url: String
        var content: String?
        var replacement: Entry?
        init(_ url: String) { self.url = url }

        /// The resource to which a handle refers.
        var current: Entry { replacement?.current ?? self }
    }

    var base: String
    var entries: [Entry] = []
    init(base: String) { self.base = base }

    private static func origin(_ url: String) -> Substring { url.dropFirst(8).prefix { $0 != "/" } }

    func entry(at url: String) -> Entry {
        if let known = entries.first(where: { $0.url == url }) { return known }
        entries.append(Entry(url))
        return entries[entries.count - 1]
    }

    func move(to new: String) {
        guard new != base else { return }
        let below = entries.filter { $0.url.hasPrefix(base) }
        for entry in below { entry.url = new + entry.url.dropFirst(base.count) }
        // A URL outside the base counts as another resource when the origin of the base is or was its own.
        let (old, origin) = (Self.origin(base), Self.origin(new))
        for entry in entries {
            let isLocal = [old, origin].map { $0 == Self.origin(entry.url) }
            if entry.url.hasPrefix(new) || isLocal[0] != isLocal[1] { entry.content = nil }
        }
        base = new
        for entry in entries where !below.contains(where: { $0 === entry }) {
            entry.replacement = below.first { $0.url == entry.url }
        }
        entries.removeAll { $0.replacement != nil }
    }
}

@Suite("Merged resources, compared with a model", .leavesNothing)
struct MergingReferenceTests {
    private struct Handle {
        let resource: Resource<Item>
        let entry: ModelService.Entry
    }

    private struct Observer {
        let handle: Handle
        let log: EventLog
        let observation: ResourceObservation
    }

    private static let bases = ["https://a/v1/", "https://b/v2/", "https://b/v2/deep/", "https://c/"]
    private static let paths = ["x", "y", "deep/x"]

    @Test(
        "Random look-ups, changes of the base, overrides and observers give the same as the model",
        arguments: 1...12 as ClosedRange<UInt64>)
    func random(seed: UInt64) async throws {
        var numbers = SeededNumbers(state: seed)
        let (fixture, model) = (try ResourceFixture(base: Self.bases[0]), ModelService(base: Self.bases[0]))
        let service = fixture.service
        var (handles, observers): ([Handle], [Observer]) = ([], [])
        for step in 0..<120 {
            let place: Comment = "seed \(seed), step \(step)"
            let base = Self.bases.randomElement(using: &numbers) ?? ""
            let path = Self.paths.randomElement(using: &numbers) ?? ""
            switch Int.random(in: 0..<12, using: &numbers) {
            case 0..<2:
                handles.append(Handle(resource: service.resource(path), entry: model.entry(at: model.base + path)))
            case 2..<5:
                handles.append(
                    Handle(resource: service.resource(url: base + path), entry: model.entry(at: base + path)))
            case 5..<7:
                fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL(base)))
                service.adoptEnvironment()
                model.move(to: base)
            case 7..<9:
                guard let handle = handles.randomElement(using: &numbers) else { continue }
                handle.resource.override(with: Item(name: "\(step)"))
                handle.entry.current.content = "\(step)"
            case 9..<11:
                guard let handle = handles.randomElement(using: &numbers) else { continue }
                let log = EventLog()
                observers.append(
                    Observer(
                        handle: handle, log: log,
                        observation: handle.resource.observeSynchronously { log.add($0.event, $0.state.version) }))
            default:
                guard let index = observers.indices.randomElement(using: &numbers) else { continue }
                observers.remove(at: index).observation.cancel()
            }
            // A change of the environment can be delivered by the task that follows it.
            for observer in observers {
                let resource = observer.handle.resource
                while observer.log.versions.last != resource.state.version { await Task.yield() }
                #expect(zip(observer.log.versions, observer.log.versions.dropFirst()).allSatisfy { $0 < $1 }, place)
            }
            #expect(service.resourceCount == model.entries.count, place)
            for handle in handles {
                let (resource, entry) = (handle.resource, handle.entry.current)
                #expect(resource.url == entry.url, place)
                #expect(resource.content?.name == entry.content, place)
                #expect(service.resource(url: entry.url, as: Item.self).core === resource.core, place)
                let count = observers.count { $0.handle.entry.current === entry }
                #expect(resource.observerCount == count, place)
            }
        }
        for observer in observers { observer.observation.cancel() }
    }
}
