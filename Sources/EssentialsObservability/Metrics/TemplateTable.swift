#if Server || Inspector
    import EssentialsTools

    /// The templates of URLs that are attributes: at most so many, so that a program that puts values into them cannot use up the
    /// series of all other requests.
    final class TemplateTable: Sendable {
        private struct State {
            var known: Set<String> = []
            /// The template that was asked for last.
            var last: String?
        }

        private let state = Mutex(State())
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        /// The template, or what stands for those that are too many.
        subscript(template: String) -> String {
            state.withLock { state in
                if state.last == template { return template }
                if !state.known.contains(template) {
                    guard state.known.count < limit else { return other }
                    state.known.insert(template)
                }
                state.last = template
                return template
            }
        }
    }
#endif
