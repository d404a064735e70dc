/// The regular loads of a resource; see ``ResourcePolling``.
extension ResourceCore.Contents {
    /// Records a new observer.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - refresh: Its own interval.
    ///   - configuration: The configuration of the resource.
    mutating func noteObserver(
        _ number: UInt64, _ refresh: ResourceRefresh?, _ configuration: EffectiveConfiguration,
        _ service: HTTPResourceService
    ) {
        if polling == nil {
            guard refresh != nil || configuration.values.refresh != nil else { return }
            beginPolling(service, observers: observers.count - 1)
        }
        polling?.note(.configured(configuration.values.refresh, version: configuration.version))
        polling?.note(.joined(refresh, number: number))
    }

    /// Records another configuration, if the resource has observers.
    mutating func noteConfiguration(_ configuration: EffectiveConfiguration, _ service: HTTPResourceService) {
        guard observers.count > 0 else { return }
        if polling == nil {
            guard configuration.values.refresh != nil else { return }
            beginPolling(service, observers: observers.count)
        }
        polling?.note(.configured(configuration.values.refresh, version: configuration.version))
    }

    /// Begins to record the events of a resource that has this many observers.
    mutating func beginPolling(_ service: HTTPResourceService, observers: Int) {
        service.polling.attach(service)
        let polling = ResourcePolling(self, service.polling)
        for _ in 0..<observers { polling.note(.joined(nil, number: 0)) }
        self.polling = polling
    }
}

extension HTTPResourceService {
    /// Reads the configuration of observed resources again, because it may have switched their regular loads on or off.
    func reconfigurePolling() {
        guard polling.isAttached, !isClosed else { return }
        for core in table.cores where core.observerCount > 0 {
            let configuration = effective(for: core)
            core.changing { $0.noteConfiguration(configuration, self) }
        }
    }
}
