public import EssentialsHTTP
import EssentialsTools

/// The state of a list in pages at one moment.
///
/// ```swift
/// draw(state.items, footer: state.isLoading ? Footer.spinner : state.hasNext ? .button : .empty)
/// ```
public struct PagedState<Item: Sendable>: Sendable {
    /// The items of all shown pages, in order. If several items have the same ID, the first one counts.
    public let items: [Item]
    /// The number of shown pages.
    public let pageCount: Int
    /// Whether a page follows the shown ones. It is `true` before the first load.
    public let hasNext: Bool
    /// Whether pages at the beginning were dropped, because there were too many.
    public let hasPrevious: Bool
    /// Whether a page of the list is being loaded.
    public let isLoading: Bool
    /// Why the last operation of the list failed; `nil` after a success. A cancellation does not count as a failure.
    public let failure: RequestFailure?
    /// A number for the whole list. A later state of the same list has a greater one.
    public let version: UInt64
}

extension PagedResource {
    /// The states of a list in pages: the current one, then the newest one after each change.
    ///
    /// ```swift
    /// for await state in films.states(loading: .ifNeeded) { draw(state.items) }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest state. The sequence ends when the calling task is
    /// cancelled or the service is closed, and never throws. Its reader counts as an observer of all shown pages.
    public struct States: AsyncSequence, Sendable {
        /// A state.
        public typealias Element = PagedState<Item>
        /// The sequence never fails.
        public typealias Failure = Never

        let list: PagedResource
        let loading: ObserverLoading

        /// Begins with the current state.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

        /// Reads the states.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let reader: Reader
            private var observed: [AnyResource]
            /// The observation of the shown pages. It is replaced when other pages are shown.
            private var observation: JointObservation
            private var version: UInt64?

            fileprivate init(_ states: States) {
                reader = Reader(states.list)
                observed = states.list.shownPages
                observation = JointObservation(of: observed, reader.signal)
                if states.loading == .ifNeeded { states.list.loadForObserver() }
            }

            /// The newest state that was not read yet; `nil` at the end.
            public mutating func next() async -> Element? { await next(isolation: #isolation) }

            /// The newest state that was not read yet; `nil` at the end. A `for` loop calls this method.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
                while await reader.signal.next() {
                    let shown = reader.list.shownPages
                    if shown != observed {
                        observed = shown
                        // The new observation begins before the old one ends, so that no load is cancelled in between.
                        observation = JointObservation(of: shown, reader.signal)
                    }
                    let state = reader.list.state
                    guard state.version != version else { continue }
                    version = state.version
                    return state
                }
                return nil
            }
        }
    }

    /// The registration of one reader. It leaves the list when the reader is released.
    private final class Reader: Sendable {
        let list: PagedResource
        let signal = ChangeSignal()
        private let number: UInt64

        init(_ list: PagedResource) {
            self.list = list
            number = list.signals.add(signal)
        }

        deinit { list.signals.remove(number) }
    }
}
