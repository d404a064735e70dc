import EssentialsHTTP
import EssentialsObservation
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import Observation
import Testing

@Suite("Observed resource", .timeLimit(.minutes(5)))
struct ObservedResourceTests {
    let transport = ScriptedTransport()
    let service: HTTPResourceService
    let item: Resource<Int>

    init() throws {
        let environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        service = try HTTPResourceService(requests: requests, environment: environment)
        item = service.resource("item")
    }

    @Test("Properties show the present state at once, and each later one on the changing thread without an actor")
    func values() {
        item.override(with: 1)
        let observed = ObservedResource(item, isolation: nil)
        #expect(observed.content == 1)
        item.override(with: 2)
        #expect(observed.content == 2)
        item.invalidate()
        #expect(observed.isInvalid)
        #expect(observed.state.version == item.state.version)
        item.wipe()
        #expect(observed.content == nil)
        #expect(!observed.isInvalid)
    }

    @MainActor
    @Test("Content of an account that was left is not shown any more, also before the actor has applied the change")
    func leftAccount() async {
        item.override(with: 1)
        let observed = ObservedResource(item)
        #expect(observed.content == 1)
        item.override(with: 2)
        service.enter("bob")
        #expect(observed.content == nil)
        let log = NameLog()
        log.track("content") { _ = observed.content }
        item.override(with: 3)
        var names: [String] = []
        while names.isEmpty || observed.content != 3 {
            await Task.yield()
            names += log.take()
        }
        #expect(names == ["content"])
    }

    @Test("Tracking code is called for the properties that it has read, and for no others")
    func tracking() async throws {
        transport.on(.get, "/v1/item").answer(json: 7).thenAnswer(.internalServerError)
        let observed = ObservedResource(item, isolation: nil)
        let log = NameLog()
        log.track("content") { _ = observed.content }
        log.track("failure") { _ = observed.failure }
        log.track("isLoading") { _ = observed.isLoading }
        log.track("isInvalid") { _ = observed.isInvalid }
        log.track("state") { _ = observed.state }
        try await item.load()
        #expect(log.take() == ["content", "isLoading", "state"])
        #expect(observed.content == 7)
        log.track("content") { _ = observed.content }
        log.track("failure") { _ = observed.failure }
        await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(log.take() == ["failure"])
        #expect(observed.failure?.status == .internalServerError)
        log.track("isInvalid") { _ = observed.isInvalid }
        log.track("isLoading") { _ = observed.isLoading }
        item.invalidate()
        #expect(log.take() == ["isInvalid"])
        log.track("failure") { _ = observed.failure }
        item.override(with: 8)
        #expect(log.take() == ["content", "failure"])
    }

    @Test("Progress is tracked if it was asked for", arguments: [true, false])
    func progress(isAsked: Bool) async throws {
        transport.on(.get, "/v1/item").answer(json: 7)
        let observed = ObservedResource(item, reportingProgress: isAsked, isolation: nil)
        let log = NameLog()
        log.track("progress") { _ = observed.progress }
        let request = item.loadRequest()
        #expect(observed.progress == nil)
        _ = try await request.content
        #expect(log.take() == (isAsked ? ["progress"] : []))
        #expect(observed.progress == nil)
    }

    @MainActor
    @Test("An object that is created on an actor changes there, and not between two suspensions of the actor's code")
    func isolation() async {
        let observed = ObservedResource(item)
        item.override(with: 1)
        #expect(observed.content == nil)
        let (changes, continuation) = AsyncStream.makeStream(of: Bool.self)
        while observed.content == nil {
            withObservationTracking {
                _ = observed.content
            } onChange: {
                MainActor.assertIsolated()
                continuation.yield(true)
            }
            if observed.content == nil {
                var iterator = changes.makeAsyncIterator()
                _ = await iterator.next()
            }
        }
        #expect(observed.content == 1)
    }

    @Test("Observing can load the resource, once")
    func loading() async throws {
        transport.on(.get, "/v1/item").answer(json: 7)
        let observed = ObservedResource(item, loading: .ifNeeded, isolation: nil)
        let second = ObservedResource(item, loading: .ifNeeded, isolation: nil)
        while observed.content == nil || second.content == nil { await Task.yield() }
        #expect(observed.content == 7)
        #expect(transport.requestCount == 1)
    }

    @Test("The observation ends with the object", arguments: [true, false])
    func end(isOnActor: Bool) async {
        weak var weakObserved: ObservedResource<Int>?
        do {
            let observed = ObservedResource(item, isolation: isOnActor ? MainActor.shared : nil)
            weakObserved = observed
            #expect(item.observerCount == 1)
        }
        // The object may end on another thread, which is delivering a change.
        while weakObserved != nil || item.observerCount > 0 { await Task.yield() }
        item.override(with: 1)
    }
}

/// Records the names of properties whose tracking code was called.
private final class NameLog: Sendable {
    private let names = Mutex<Set<String>>([])

    func track(_ name: String, _ read: () -> Void) {
        withObservationTracking(read) { [self] in names.withLock { _ = $0.insert(name) } }
    }

    /// Returns the names in order, and forgets them.
    func take() -> [String] {
        names.withLock { names in
            defer { names = [] }
            return names.sorted()
        }
    }
}
