#if canImport(Combine)
    @preconcurrency import Combine
#elseif OpenCombine
    @preconcurrency import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
    import EssentialsTools

    /// A subscription whose work is one task. It begins with the first demand, and is cancelled with the subscription.
    final class TaskSubscription: Subscription {
        private enum State {
            case idle(@Sendable (DemandGate) async -> Void)
            case running(Task<Void, Never>)
            case ended
        }

        private let gate = DemandGate()
        private let state: Mutex<State>

        /// - Parameter work: Gives values to the subscriber, each after it has taken demand for it, and then the end.
        init(_ work: @escaping @Sendable (DemandGate) async -> Void) { state = Mutex(.idle(work)) }

        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            gate.add(demand.max)
            state.withLock { state in
                guard case .idle(let work) = state else { return }
                state = .running(Task { [gate] in await work(gate) })
            }
        }

        func cancel() {
            gate.cancel()
            let earlier = state.withLock { state in
                defer { state = .ended }
                return state
            }
            if case .running(let task) = earlier { task.cancel() }
        }
    }

    /// A subscriber that one task calls.
    ///
    /// `@unchecked Sendable`: a publisher may call its subscriber on any thread as long as the calls follow one another. The
    /// calls before the task begins precede it, and all later ones are made by the one task of a `TaskSubscription`.
    struct Receiver<Input, Failure: Error>: @unchecked Sendable {
        private let receiveValue: (Input) -> Subscribers.Demand
        private let receiveCompletion: (Subscribers.Completion<Failure>) -> Void

        init<Downstream: Subscriber>(
            _ subscriber: Downstream
        ) where Downstream.Input == Input, Downstream.Failure == Failure {
            receiveValue = { subscriber.receive($0) }
            receiveCompletion = { subscriber.receive(completion: $0) }
        }

        /// Gives a value to the subscriber, and adds its new demand.
        func receive(_ value: Input, _ gate: DemandGate) {
            let demand = receiveValue(value)
            if demand > .none { gate.add(demand.max) }
        }

        func finish(_ completion: Subscribers.Completion<Failure>) { receiveCompletion(completion) }
    }
#endif
