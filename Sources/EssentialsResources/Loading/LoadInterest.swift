import EssentialsRequests

/// Keeps a load running for a group or a prefetch, like a waiting task, until it is ended.
struct LoadInterest: Sendable {
    let core: ResourceCore
    let run: LoadRun

    /// Begins the interest. An interest from ``Resource/beginInterest(priority:)`` has already begun.
    func begin() { core.join(run) }

    /// Ends the interest. The load is cancelled if nothing else keeps it running.
    ///
    /// - Parameter keepsLoad: Whether the load continues in any case.
    func end(keepsLoad: Bool = false) {
        if keepsLoad { core.keep(run) }
        core.leave(run)
    }
}

extension Resource {
    /// Begins a load if the content is not fresh, or joins a running load.
    ///
    /// - Parameter priority: The priority of a new load, regardless of the priority of the resource's requests. `nil`
    ///   means the priority of these requests, to which a running load is raised too.
    /// - Returns: The interest in the load; `nil` if no load is needed.
    func beginInterest(priority: RequestPriority?) -> LoadInterest? {
        let environment = prepare()
        let now = service.time.now
        let core = core
        let need = core.beginLoadIfNeeded(
            of: ObjectIdentifier(Content.self), isAwaited: true, isStarted: false, at: now, in: environment,
            usesCache: service.usesCaches(for: core))
        service.loadLog.note(need, core, at: now)
        switch need {
        case .nothing: return nil
        case .running(let run):
            if priority == nil { core.raise(run, to: nil) }
            return LoadInterest(core: core, run: run)
        case .new(let run, var wish):
            wish.priority = priority
            service.start(run, of: core, wish)
            return LoadInterest(core: core, run: run)
        }
    }
}
