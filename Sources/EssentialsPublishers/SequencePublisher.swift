#if canImport(Combine)
    @preconcurrency public import Combine
#elseif OpenCombine
    @preconcurrency public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
    public import EssentialsFetching
    public import EssentialsResources

    /// Publishes the elements of an asynchronous sequence, read by each subscription for itself.
    ///
    /// ```swift
    /// let subscription = cart.statesPublisher().sink { state in show(state.content) }
    /// ```
    ///
    /// Reading begins when the subscriber demands the first value. The next element is read only when there is demand for
    /// it, so a sequence that keeps its newest element, such as the states of a resource, publishes the newest one after a
    /// pause. The end of a sequence is found, and published, only when there is demand as well. Cancelling the subscription
    /// cancels the task that reads. Values arrive on the threads of Swift's tasks.
    public struct SequencePublisher<Base: AsyncSequence & Sendable>: Publisher, Sendable where Base.Element: Sendable {
        /// The elements of the sequence.
        public typealias Output = Base.Element
        /// The failure of the sequence.
        public typealias Failure = Base.Failure

        private let base: Base

        /// Creates a publisher of a sequence that can be read several times.
        public init(_ base: Base) { self.base = base }

        /// Attaches a subscriber; see `Publisher`.
        public func receive<Downstream: Subscriber>(
            subscriber: Downstream
        ) where Downstream.Input == Output, Downstream.Failure == Failure {
            let receiver = Receiver(subscriber)
            let subscription = TaskSubscription { [base] gate in
                var iterator = base.makeAsyncIterator()
                do throws(Failure) {
                    while await gate.take() {
                        guard let element = try await iterator.next(isolation: nil) else {
                            if !gate.isCancelled { receiver.finish(.finished) }
                            return
                        }
                        guard !gate.isCancelled else { return }
                        receiver.receive(element, gate)
                    }
                } catch {
                    if !gate.isCancelled { receiver.finish(.failure(error)) }
                }
            }
            subscriber.receive(subscription: subscription)
        }
    }

    extension Emissions {
        /// A publisher of the values of the fetch. Each subscription fetches by itself; a publisher of the emissions of
        /// `Emissions.shared()` reads one fetch.
        ///
        /// ```swift
        /// let subscription = service.coins().publisher.sink { _ in } receiveValue: { coins in show(coins.value) }
        /// ```
        ///
        /// A value of the server is stored when the next demand comes, or when the subscription is cancelled or ends.
        public var publisher: SequencePublisher<Emissions> { SequencePublisher(self) }
    }

    extension Resource {
        /// A publisher of the present state and of the newest one after each change; see `Resource.states(loading:)`.
        ///
        /// - Parameter loading: Whether each subscription loads the resource.
        public func statesPublisher(
            loading: ObserverLoading = .none
        ) -> SequencePublisher<ValueSequence<ResourceState<Content>>> {
            SequencePublisher(states(loading: loading))
        }
    }
#endif
