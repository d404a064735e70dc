import EssentialsRequests

/// The interest of somebody in a load for which no task waits, such as that of a group or of loads in advance. It counts
/// like a waiting task until it is ended.
struct LoadInterest: Sendable {
    let core: ResourceCore
    let run: LoadRun

    /// Begins an interest. One that is made by ``Resource/beginInterest(priority:)`` has begun.
    func begin() { core.join(run) }

    /// Ends the interest. The load is cancelled if nobody else wants it.
    ///
    /// - Parameter keepsLoad: Whether the load runs to its end in any case.
    func end(keepsLoad: Bool = false) {
        if keepsLoad { core.keep(run) }
        core.leave(run)
    }
}

extension Resource {
    /// Begins a load if the content is not fresh, or joins the one that runs.
    ///
    /// - Parameter priority: The priority of a new load, which is not raised to that of the resource's requests; `nil` means
    ///   that of these requests, also for a load that runs.
    /// - Returns: The interest in the load; `nil` if none is needed.
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
