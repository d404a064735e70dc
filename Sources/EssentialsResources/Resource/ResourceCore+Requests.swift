import EssentialsHTTP
import EssentialsTools

/// A running request of a resource that is not one of its loads.
struct RequestRecord: Sendable {
    let number: UInt64
    /// The number of the newest load when the request was started.
    let load: UInt64
    let running: RunningRequest
}

extension ResourceCore {
    /// Records a request that was started.
    ///
    /// - Returns: Its number.
    func add(_ method: HTTPRequest.Method, _ cancel: @escaping @Sendable () -> Void) -> UInt64 {
        // Numbers are never used again, because a request can be removed twice.
        let number = Self.lastRequest.wrappingAdd(1, ordering: .relaxed).newValue
        add(number, RunningRequest(method: method, isLoad: false, cancel))
        return number
    }

    private func add(_ number: UInt64, _ running: RunningRequest) {
        let isAdded = contents.withLock { contents in
            guard contents.forward == nil else { return false }
            contents.requests.append(RequestRecord(number: number, load: contents.machine.last, running: running))
            return true
        }
        if !isAdded { current.add(number, running) }
    }

    /// The number of the last started request of all resources.
    private static let lastRequest = Atomic<UInt64>(0)

    /// Records the end of a request.
    func remove(request number: UInt64) {
        // The last reference to the request may be released here, outside the lock.
        let (_, forward) = contents.withLock { contents -> (RequestRecord?, ForwardedResource?) in
            guard let index = contents.requests.firstIndex(where: { $0.number == number }) else {
                return (nil, contents.forward)
            }
            let record = contents.requests.remove(at: index)
            // An idle resource has no memory for requests.
            if contents.requests.isEmpty { contents.requests = [] }
            return (record, nil)
        }
        forward?.next.remove(request: number)
    }

    /// The running loads and requests, in the order of their start.
    var runningRequests: [RunningRequest] {
        let (runs, requests) = contents.withLock { ($0.runs, $0.requests) }
        let loads = runs.map { run in
            (run.number, RunningRequest(method: .get, isLoad: true) { [self] in cancel(run) })
        }
        var merged: [RunningRequest] = []
        var rest = requests[...]
        for (number, load) in loads {
            while let request = rest.first, request.load < number {
                merged.append(request.running)
                rest = rest.dropFirst()
            }
            merged.append(load)
        }
        return merged + rest.map(\.running)
    }

    /// Cancels the requests that are not loads.
    func cancelRequests() {
        for request in contents.withLock({ $0.requests }) { request.running.cancel() }
    }
}
