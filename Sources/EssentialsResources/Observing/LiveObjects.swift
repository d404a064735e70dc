import EssentialsTools

#if DEBUG
    /// Counts the living objects and tasks of resources, so that a test finds what it has left behind.
    ///
    /// Only objects that are created by the task of the test, or by tasks that begin there, are counted. Tests that run
    /// at the same time therefore do not disturb each other. Release builds count nothing.
    final class LiveObjects: Sendable {
        /// The kinds of counted objects.
        enum Kind: Sendable, Hashable {
            /// A ``HTTPResourceService``.
            case service
            /// A ``ResourceCore``.
            case core
            /// The state of a view at one moment.
            case snapshot
            /// A ``Load``.
            case load
            /// A ``RequestStorage``.
            case request
            /// A task that lives as long as a service, an observer or a request; see `Task.counted(_:)`.
            case task
            /// The place of a reader of a sequence among the observers of a resource or a slot.
            case reader
            /// A ``ResourceObservation``.
            case observation
            /// A ``ResourceObserver`` of one resource, with its owners.
            case ownedObserver
        }

        /// The counter of the current task; `nil` if nothing is counted.
        @TaskLocal static var current: LiveObjects?

        private let numbers = Mutex<[Kind: Int]>([:])

        /// The number of objects of each kind. Kinds without objects are left out.
        var counts: [Kind: Int] { numbers.withLock { $0 } }

        fileprivate func add(_ kind: Kind, _ number: Int) {
            numbers.withLock { numbers in
                let sum = (numbers[kind] ?? 0) + number
                numbers[kind] = sum == 0 ? nil : sum
            }
        }
    }

    /// Counts the object that stores it as alive.
    struct LiveMark: ~Copyable, Sendable {
        private let kind: LiveObjects.Kind
        private let counter = LiveObjects.current

        init(_ kind: LiveObjects.Kind) {
            self.kind = kind
            counter?.add(kind, 1)
        }

        deinit { counter?.add(kind, -1) }
    }

    /// Counts as alive as long as it is held.
    private final class LiveTask: Sendable {
        private let mark = LiveMark(.task)
    }
#endif

extension Task where Success == Void, Failure == Never {
    /// Starts a task for which no other task waits. Debug builds count it until it has ended; see `LiveObjects`.
    static func counted(_ work: @escaping @Sendable () async -> Void) -> Task {
        #if DEBUG
            let life = LiveTask()
            return Task {
                await work()
                withExtendedLifetime(life) {}
            }
        #else
            return Task { await work() }
        #endif
    }
}

extension Place {
    /// Creates the place of a reader of a sequence. Debug builds count it until it is left; see `LiveObjects`.
    static func counted(leave: @escaping @Sendable () -> Void) -> Place {
        #if DEBUG
            let mark = LiveMark(.reader)
            return Place { withExtendedLifetime(mark, leave) }
        #else
            return Place(leave: leave)
        #endif
    }
}
