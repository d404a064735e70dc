#if Server || Inspector
    import CoreMetrics
    import EssentialsHTTP
    import EssentialsTools
    public import EssentialsTransport

    extension MetricsObserver: ConnectionObserver {
        /// Records how long a connection was open, when it closes.
        public func observe(_ event: ConnectionEvent) {
            guard case .closed(let lifetime, _) = event.kind else { return }
            client.connectionDuration[servers[event.origin]].recordNanoseconds(lifetime.wholeNanoseconds)
        }

        /// Records the open connections and the waiting requests of a transport again and again, until the task is cancelled.
        ///
        /// ```swift
        /// group.addTask { await metrics.follow { await requests.transportLoad } }
        /// ```
        ///
        /// Several transports can be followed at the same time: the values of one server add up. So follow a transport that several
        /// services share only once. At the end, what was recorded is taken back.
        ///
        /// - Parameters:
        ///   - interval: The time between two looks, at least a millisecond. The default is 10 seconds.
        ///   - load: The load of a transport; `nil` if it is not known, which counts as none.
        public func follow(
            every interval: Duration = .seconds(10), _ load: @Sendable () async -> TransportLoad?
        ) async {
            var last = ConnectionNumbers()
            while !Task.isCancelled {
                let next = numbers(of: await load() ?? TransportLoad())
                record(next, after: last)
                last = next
                try? await Task.sleep(for: max(interval, .milliseconds(1)))
            }
            record(ConnectionNumbers(), after: last)
        }

        private func numbers(of load: TransportLoad) -> ConnectionNumbers {
            var numbers = ConnectionNumbers()
            for entry in load.origins {
                let server = servers[entry.origin]
                numbers.open[.init(server: server, value: "active"), default: 0] += entry.active
                numbers.open[.init(server: server, value: "idle"), default: 0] += entry.idle
                numbers.waiting[server, default: 0] += entry.waiting
            }
            return numbers
        }

        private func record(_ next: ConnectionNumbers, after last: ConnectionNumbers) {
            for key in Set(next.open.keys).union(last.open.keys) {
                client.openConnections[key].change(from: last.open[key], to: next.open[key])
            }
            for key in Set(next.waiting.keys).union(last.waiting.keys) {
                client.queueLength[key].change(from: last.waiting[key], to: next.waiting[key])
            }
        }
    }

    extension MeterHandler {
        /// Adds the difference. A first number is added even if it is 0, so that the series exists.
        fileprivate func change(from last: Int?, to next: Int?) {
            let difference = Double((next ?? 0) - (last ?? 0))
            if difference < 0 {
                decrement(by: -difference)
            } else if difference > 0 || last == nil {
                increment(by: difference)
            }
        }
    }

    /// What the meters of one transport show.
    private struct ConnectionNumbers {
        var open: [ClientInstruments.Named: Int] = [:]
        var waiting: [ClientInstruments.Server: Int] = [:]
    }
#endif
