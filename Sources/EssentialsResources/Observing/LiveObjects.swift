#if DEBUG
    import Synchronization

    /// Counts the objects of observations that are alive, so that a test finds what it has left behind.
    ///
    /// Only objects count that are created by the task of the test and by tasks that begin there, so tests that run at the
    /// same time do not disturb each other. Release builds count nothing.
    final class LiveObjects: Sendable {
        /// What is counted.
        enum Kind: Sendable, Hashable {
            /// A ``ResourceCore``.
            case core
            /// The place of one reader of a sequence.
            case reader
            /// A ``ResourceObservation``.
            case observation
            /// A ``ResourceObserver`` of one resource, with its owners.
            case ownedObserver
        }

        /// The counter of the present task; `nil` if nothing is counted.
        @TaskLocal static var current: LiveObjects?

        private let numbers = Mutex<[Kind: Int]>([:])

        /// The number of objects of each kind, without those of which there are none.
        var counts: [Kind: Int] { numbers.withLock { $0 } }

        fileprivate func add(_ kind: Kind, _ number: Int) {
            numbers.withLock { numbers in
                let sum = (numbers[kind] ?? 0) + number
                numbers[kind] = sum == 0 ? nil : sum
            }
        }
    }

    /// Makes the object that stores it count as alive.
    struct LiveMark: ~Copyable, Sendable {
        private let kind: LiveObjects.Kind
        private let counter = LiveObjects.current

        init(_ kind: LiveObjects.Kind) {
            self.kind = kind
            counter?.add(kind, 1)
        }

        deinit { counter?.add(kind, -1) }
    }
#endif
