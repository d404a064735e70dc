public import EssentialsHTTP

/// Invalidating and wiping several resources at once.
extension HTTPResourceService {
    /// Marks the content of all resources that a pattern selects as outdated; see ``Resource/invalidate()``.
    ///
    /// ```swift
    /// try service.invalidate("/orders/**")
    /// try service.invalidate(.all)
    /// ```
    ///
    /// It sends nothing. The time is proportional to the number of resources that the service knows.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func invalidate(_ pattern: ResourcePattern) throws(RequestFailure) {
        for core in try cores(matching: pattern) { core.invalidate() }
    }

    /// Removes the content of all resources that a pattern selects, and cancels their loads; see ``Resource/wipe(_:)``.
    ///
    /// ```swift
    /// try service.wipe("/users/7/**")
    /// try service.wipe(.all, .includingWrites)
    /// ```
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources.
    ///   - extent: Whether other requests than loads are cancelled too.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func wipe(_ pattern: ResourcePattern, _ extent: WipeExtent) throws(RequestFailure) {
        wipe(try cores(matching: pattern), extent)
    }

    /// Marks the content of all resources as outdated whose configuration has one of the tags; see
    /// ``ResourceConfiguration/tags``.
    public func invalidate(tagged tags: Set<String>) {
        adoptEnvironment()
        for core in cores(matching: [], tagged: tags) { core.invalidate() }
    }

    /// Removes the content of all resources whose configuration has one of the tags, and cancels their loads.
    public func wipe(tagged tags: Set<String>, _ extent: WipeExtent) {
        adoptEnvironment()
        wipe(cores(matching: [], tagged: tags), extent)
    }

    private func wipe(_ cores: [ResourceCore], _ extent: WipeExtent) {
        for core in cores {
            core.wipe()
            if extent == .includingWrites { core.cancelRequests() }
        }
    }

    private func cores(matching pattern: ResourcePattern) throws(RequestFailure) -> [ResourceCore] {
        if let problem = pattern.problem { throw problem }
        adoptEnvironment()
        return cores(matching: [pattern])
    }
}
