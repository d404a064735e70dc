/// The state of a tracker and its next actions. It owns no socket, thread or clock.
struct ReachabilityMachine {
    enum Action: Sendable, Hashable {
        /// Look up the addresses and report the status with ``lookedUp(_:)``.
        case lookUp([NetworkAddress])
        /// Resolve the name and report the addresses with ``resolved(_:_:)`` and this number.
        case resolve(String, number: UInt64)
        /// Call ``timerEnded(_:)`` with this number when the time has passed.
        case wait(Duration, number: UInt64)
        /// The timer with this number is no longer needed.
        case forget(UInt64)
        case publish(ReachabilityStatus)
        /// The first status is determined, as far as possible.
        case settle
    }

    /// The minimum time between the end of a resolution and the next one. While a name is not resolved, every network
    /// change triggers a resolution, and there can be thousands of changes per second.
    static let pause = Duration.seconds(1)
    /// The maximum debounce. Clocks trap if the sum of the current time and the duration overflows.
    static let longestDebounce = Duration.seconds(1 << 31)

    private let name: String?
    private let debounce: Duration
    private var addresses: [NetworkAddress]
    private var current = ReachabilityStatus.unknown
    private var published = ReachabilityStatus.unknown
    private var isSettled = false
    /// Whether notifications about network changes were lost.
    private var isDeaf = false
    private var lastNumber: UInt64 = 0

    // The numbers of pending actions.
    private var resolution: UInt64?
    private var pauseTimer: UInt64?
    private var debounceTimer: UInt64?
    /// Whether another resolution follows after the current one and the pause.
    private var isResolutionDue = false
    /// Whether the most recent resolution failed.
    private var isNameInDoubt = false

    init(_ target: ReachabilityTarget, debounce: Duration) {
        switch target.kind {
        case .name(let name): (self.name, addresses) = (name, [])
        case .addresses(let addresses): (name, self.addresses) = (nil, addresses)
        }
        self.debounce = min(max(debounce, .zero), Self.longestDebounce)
    }

    mutating func start() -> [Action] { name == nil ? [.lookUp(addresses)] : resolveSoon() }

    /// Reports that the network has changed, or may have changed.
    mutating func networkChanged() -> [Action] {
        guard !isDeaf else { return [] }
        let resolving = isNameInDoubt || resolution != nil && addresses.isEmpty ? resolveSoon() : []
        return lookUpKnown() + resolving
    }

    /// Reports that the application requested a refresh.
    mutating func refresh() -> [Action] { isDeaf ? [] : lookUpKnown() + resolveSoon() }

    /// Reports that no more notifications arrive, so that the status is no longer known.
    mutating func eventsLost() -> [Action] {
        isDeaf = true
        current = .unknown
        return judge() + settle()
    }

    mutating func lookedUp(_ status: ReachabilityStatus) -> [Action] {
        guard !isDeaf else { return [] }
        let before = current
        current = status
        let actions = judge() + settle()
        // The name may have other addresses after the network is available again.
        guard case .unreachable = before, status.interface != nil || status == .local else { return actions }
        return actions + resolveSoon()
    }

    /// - Parameter found: The addresses. Empty or `nil` means that the name was not resolved.
    mutating func resolved(_ number: UInt64, _ found: [NetworkAddress]?) -> [Action] {
        guard number == resolution, !isDeaf else { return [] }
        resolution = nil
        let timer = nextNumber()
        pauseTimer = timer
        let waiting = Action.wait(Self.pause, number: timer)
        let known = (found ?? []).prefix(ReachabilityTarget.maximumAddresses)
        isNameInDoubt = known.isEmpty
        guard known.isEmpty else {
            addresses = Array(known)
            return [.lookUp(addresses), waiting]
        }
        // The previously known addresses are better advice than none. Without them the status is unknown.
        return judge() + settle() + [waiting]
    }

    mutating func timerEnded(_ number: UInt64) -> [Action] {
        if number == pauseTimer {
            pauseTimer = nil
            return isResolutionDue && !isDeaf ? resolveSoon() : []
        }
        guard number == debounceTimer else { return [] }
        debounceTimer = nil
        return publish()
    }

    // MARK: -

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private func lookUpKnown() -> [Action] { addresses.isEmpty ? [] : [.lookUp(addresses)] }

    private mutating func settle() -> [Action] {
        guard !isSettled else { return [] }
        isSettled = true
        return [.settle]
    }

    /// Resolves the name as soon as it is allowed.
    private mutating func resolveSoon() -> [Action] {
        guard let name else { return [] }
        guard resolution == nil, pauseTimer == nil else {
            isResolutionDue = true
            return []
        }
        isResolutionDue = false
        let number = nextNumber()
        resolution = number
        return [.resolve(name, number: number)]
    }

    /// Decides whether the current status is published now, later or not at all.
    private mutating func judge() -> [Action] {
        guard current != published else { return forgetDebounce() }
        guard published != .unknown, debounce > .zero else { return forgetDebounce() + publish() }
        guard debounceTimer == nil else { return [] }
        let number = nextNumber()
        debounceTimer = number
        return [.wait(debounce, number: number)]
    }

    private mutating func forgetDebounce() -> [Action] {
        guard let number = debounceTimer else { return [] }
        debounceTimer = nil
        return [.forget(number)]
    }

    private mutating func publish() -> [Action] {
        guard current != published else { return [] }
        published = current
        return [.publish(current)]
    }
}
