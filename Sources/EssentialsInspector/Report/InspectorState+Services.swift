import EssentialsFetching
import EssentialsHTTP
import EssentialsLocator
import EssentialsRequests
import EssentialsResources
import EssentialsTools
import EssentialsTransport

/// What the services of a locator say of themselves when they are asked. They are asked only while a page is open.
extension InspectorState {
    /// The number of resources that are shown.
    private static let maximumResources = 500
    /// The time within which all services answer.
    private static let patience = Duration.seconds(1)

    /// The parts that the services of a locator know; `nil` if they do not answer in time.
    static func asked(_ locator: ServiceLocator) async -> InspectorState? {
        let answer = Answer()
        await limited(by: { try? await Task.sleep(for: patience) }) {
            let services = locator.builtServices(as: HTTPDataRequestService.self)
            var state = InspectorState()
            state.connections = await connections(of: services.map(\.service), locator)
            state.limits = limits(of: services.map(\.service))
            state.resources = resources(of: locator.builtServices(as: HTTPResourceService.self).map(\.service))
            state.caches = await caches(of: services, locator)
            answer.value.withLock { [state] in $0 = state }
        }
        return answer.value.withLock { $0 }
    }

    private static func connections(
        of services: [HTTPDataRequestService], _ locator: ServiceLocator
    ) async -> InspectorReport.Connections? {
        // Several services can share a transport, which has an identity if it is an object.
        var (seen, sources) = (Set<ObjectIdentifier>(), [any LoadReporting]())
        for source in services.compactMap(\.loadSource)
            + locator.builtServices(as: (any LoadReporting).self).map(\.service)
        {
            guard type(of: source) is AnyClass else {
                sources.append(source)
                continue
            }
            if seen.insert(ObjectIdentifier(source as AnyObject)).inserted { sources.append(source) }
        }
        guard !sources.isEmpty else { return nil }
        var load = TransportLoad()
        for source in sources { load.add(await source.load) }
        return InspectorReport.Connections(load)
    }

    private static func limits(of services: [HTTPDataRequestService]) -> [InspectorReport.Limit]? {
        var seen: Set<ObjectIdentifier> = []
        let all = services.compactMap(\.limits).filter { seen.insert(ObjectIdentifier($0)).inserted }
        return all.isEmpty ? nil : all.flatMap { $0.states.map(InspectorReport.Limit.init) }
    }

    private static func resources(of services: [HTTPResourceService]) -> [InspectorReport.Resource]? {
        guard !services.isEmpty else { return nil }
        return services.flatMap { $0.summaries(upTo: maximumResources) }.prefix(maximumResources)
            .map(InspectorReport.Resource.init)
    }

    private static func caches(
        of services: [(service: HTTPDataRequestService, labels: [String])], _ locator: ServiceLocator
    ) async -> [InspectorReport.Cache]? {
        var found: [InspectorReport.Cache] = []
        var seen: Set<ObjectIdentifier> = []
        let registered = locator.builtServices(as: ResponseCache.self)
        let owned = services.compactMap { entry in
            entry.service.responseCache.map { (service: $0, labels: entry.labels) }
        }
        for (cache, labels) in registered + owned where seen.insert(ObjectIdentifier(cache)).inserted {
            let usage = await cache.usage
            let note = usage.externalResponses > 0 ? "\(usage.responses) of them in memory" : ""
            found.append(
                InspectorReport.Cache(
                    name: "responses: " + labels.joined(separator: ", "),
                    entries: usage.responses + usage.externalResponses, bytes: usage.bytes + usage.externalBytes,
                    note: note))
        }
        for (cache, labels) in locator.builtServices(as: FileEntityCache.self) {
            let usage = await cache.usage
            found.append(.init("entities", labels, usage.count, usage.bytes, damaged: usage.damaged))
        }
        for (blobs, labels) in locator.builtServices(as: BlobService.self) {
            let usage = await blobs.usage
            found.append(.init("blobs", labels, usage.count, usage.bytes, damaged: usage.damaged))
        }
        return found.isEmpty ? nil : found
    }
}

/// What was answered in time.
private final class Answer: Sendable {
    let value = Mutex<InspectorState?>(nil)
}

extension InspectorReport.Connections {
    fileprivate init(_ load: TransportLoad) {
        (running, queued, longestWaitSeconds) = (load.inFlight, load.waiting, load.longestWait.inSeconds)
        (opened, closed) = (load.opened, load.closed)
        open = load.origins.map { entry in
            Origin(
                origin: "\(entry.origin)", active: entry.active, idle: entry.idle, served: entry.served,
                ageSeconds: entry.oldest.inSeconds, waiting: entry.waiting,
                longestWaitSeconds: entry.longestWait.inSeconds)
        }
    }
}

extension InspectorReport.Limit {
    fileprivate init(_ origin: Origin, _ state: OriginLimits.State) {
        var notes: [String] = []
        if let tokens = state.rateTokensLeft { notes.append("the rate allows \(tokens) now") }
        switch state.circuit {
        case .closed: circuit = "closed"
        case .halfOpen: circuit = "halfOpen"
        case .open(let left):
            circuit = "open"
            notes.append("a probe in \(left.inSeconds.rounded()) s")
        }
        self.origin = "\(origin)"
        (running, waiting, note) = (state.permitsInUse, state.waiting, notes.joined(separator: ", "))
    }
}

extension InspectorReport.Resource {
    fileprivate init(_ summary: ResourceSummary) {
        (url, state, observers, failure) = (summary.address, summary.state, summary.observers, summary.failure)
        (ageSeconds, freshSeconds) = (summary.age?.inSeconds, summary.freshFor?.inSeconds)
    }
}

extension InspectorReport.Cache {
    fileprivate init(_ kind: String, _ labels: [String], _ entries: Int, _ bytes: Int, damaged: Int) {
        self.init(
            name: "\(kind): " + labels.joined(separator: ", "), entries: entries, bytes: bytes,
            note: damaged > 0 ? "\(damaged) damaged ones were removed" : "")
    }
}

extension Duration {
    /// The time in seconds, to the millisecond.
    fileprivate var inSeconds: Double { Double(milliseconds) / 1000 }
}
