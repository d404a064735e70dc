import EssentialsHTTP
import EssentialsTools

extension ResourceCore {
    /// Replaces the content. The projections for the views are computed outside the lock, and again if a view or a
    /// layer was added or removed meanwhile.
    ///
    /// - Parameters:
    ///   - value: The new content of the server.
    ///   - codecs: Read the value as the types of the views.
    ///   - number: The number of the layer that ends with the change; `nil` keeps all layers.
    ///   - change: Changes the state under the lock. It receives the content for all views, without and with the
    ///     layers.
    func replacing<Result>(
        with value: LoadedValue, _ codecs: CodecRegistry, without number: UInt64? = nil,
        _ change: (inout Contents, LayeredContent, _ shown: [any AnyProjection]) -> Result
    ) -> Result {
        var server: [any AnyProjection] = []
        var known = 0
        while true {
            let (views, layers) = contents.withLock { ($0.views, $0.layers) }
            // The views have moved to another resource, because both have the same URL now.
            if views.count < known { (server, known) = ([], 0) }
            server += views[known...].compactMap { $0.snapshot.project(value, codecs) }
            known = views.count
            var content = LayeredContent(layers: layers, server: server)
            if let number { _ = content.remove(number) }
            let shown = content.shown
            let result = changing { contents -> Result? in
                guard contents.views.count == known, contents.hasLayers(layers) else { return nil }
                return change(&contents, content, shown)
            }
            if let result { return result }
        }
    }

    /// Changes the layers, or the server's content below them. The closures of the layers are called outside the lock,
    /// and again if the content has changed meanwhile.
    ///
    /// - Parameters:
    ///   - plan: Changes a copy of the content.
    ///   - change: Changes the state under the lock. It receives the result of ``plan``, the new content, and the
    ///     content with the layers.
    func relayering<Plan, Result>(
        _ plan: (inout LayeredContent) -> Plan,
        _ change: (inout Contents, Plan, LayeredContent, _ shown: [any AnyProjection]) -> Result
    ) -> Result {
        while true {
            var (version, content) = contents.withLock { ($0.facts.contentVersion, $0.layered) }
            let known = content.server.count
            let made = plan(&content)
            let shown = content.shown
            let result = changing { contents -> Result? in
                // A view that was added meanwhile may have content.
                guard contents.facts.contentVersion == version, contents.layered.server.count == known else {
                    return nil
                }
                return change(&contents, made, content, shown)
            }
            if let result { return result }
        }
    }
}
