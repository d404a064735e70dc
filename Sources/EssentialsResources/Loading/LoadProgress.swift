import EssentialsTools

/// The progress of a load in four bytes, in units of 2⁻³¹. Every resource stores one.
struct LoadProgress: Sendable, Equatable {
    let bits: UInt32

    /// There is no progress.
    static let none = LoadProgress(bits: .max)
    /// The load has ended.
    static let complete = LoadProgress(1)

    fileprivate init(bits: UInt32) { self.bits = bits }

    /// Rounds a progress from 0 to 1 down, so that it stays less than 1 until the end.
    init(_ value: Double) { bits = UInt32(min(max(value.isNaN ? 0 : value, 0), 1) * 0x1p31) }

    /// The progress from 0 to 1; `nil` if there is none.
    var value: Double? { self == .none ? nil : Double(bits) * 0x1p-31 }
}

/// Whether the progress of a load is measured, and its current value.
///
/// This is decided when the request is sent. An observer that is added later does not change a request in progress.
struct LoadMeasurement: ~Copyable, Sendable {
    /// The request was not sent, and no progress was requested. Progress is at most 2³¹, so these numbers are free.
    private static let open = UInt32.max
    /// No progress was requested before the request was sent.
    private static let declined = UInt32.max - 1

    private let bits = Atomic<UInt32>(open)

    /// The progress; `nil` if it is not measured.
    var progress: LoadProgress {
        let bits = bits.load(ordering: .acquiring)
        return bits < Self.declined ? LoadProgress(bits: bits) : .none
    }

    /// Requests the progress. This has an effect only before the request is sent.
    func ask() {
        _ = bits.compareExchange(expected: Self.open, desired: 0, ordering: .acquiringAndReleasing)
    }

    /// Decides whether the request that is about to be sent is measured.
    ///
    /// - Parameter isAsked: Whether its sender needs the progress.
    func decide(isAsked: Bool) -> Bool {
        let desired = isAsked ? 0 : Self.declined
        let (isOpen, found) = bits.compareExchange(
            expected: Self.open, desired: desired, ordering: .acquiringAndReleasing)
        return (isOpen ? desired : found) < Self.declined
    }

    /// Raises the progress. It is called under the lock of the resource.
    ///
    /// - Returns: Whether it is greater than before.
    func raise(to progress: LoadProgress) -> Bool {
        let old = bits.load(ordering: .relaxed)
        guard old < progress.bits, progress != .none else { return false }
        bits.store(progress.bits, ordering: .releasing)
        return true
    }
}

extension ResourceCore {
    /// Records the progress of a load, and notifies the observers that have requested it.
    func note(progress value: Double, of run: LoadRun) {
        let progress = LoadProgress(value)
        changing { contents in
            guard run.measurement.raise(to: progress), contents.observers.reportsProgress, contents.runs.last === run,
                let shown = progress.value
            else { return }
            contents.changeFacts(.progress(shown)) { _ in }
        }
    }
}

extension ResourceCore.Contents {
    /// The progress that observers see, which is that of the newest load.
    var shownProgress: LoadProgress {
        guard observers.reportsProgress else { return .none }
        return runs.last?.measurement.progress ?? .none
    }

    /// Adds an observer.
    ///
    /// - Returns: Its number.
    mutating func addObserver(_ receiver: any ChangeReceiver) -> UInt64 {
        let number = observers.add(receiver, since: facts.version)
        if receiver.keepsService { keepers += 1 }
        if receiver.reportsProgress { showProgress() }
        return number
    }

    /// Shows the progress in the state if observers have requested it, and none otherwise. They see it with their next
    /// event.
    mutating func showProgress() {
        if observers.reportsProgress { for run in runs { run.measurement.ask() } }
        if facts.progress != shownProgress { changeFacts(nil) { _ in } }
    }

    /// Removes loads that have ended. If observers see the progress of such a load, it becomes 1 first.
    mutating func removeRuns(where hasEnded: (LoadRun) -> Bool) {
        if observers.reportsProgress, let newest = runs.last, hasEnded(newest),
            newest.measurement.raise(to: .complete), facts.progress != .none
        {
            changeFacts(.progress(1)) { _ in }
        }
        runs.removeAll(where: hasEnded)
    }
}
