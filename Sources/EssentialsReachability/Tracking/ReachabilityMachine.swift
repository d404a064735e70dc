/// What a tracker knows, and what it does next. It owns no socket, thread or clock.
struct ReachabilityMachine {
    enum Action: Sendable, Hashable {
        /// Look the addresses up and say so with ``lookedUp(_:)``.
        case lookUp([NetworkAddress])
        /// Resolve the name and say so with ``resolved(_:_:)`` and this number.
        case resolve(String, number: UInt64)
        /// Say so with ``timerEnded(_:)`` and this number when the time has passed.
        case wait(Duration, number: UInt64)
        /// The timer with this number is not needed any more.
        case forget(UInt64)
        case publish(ReachabilityStatus)
        /// What could be found out at the beginning has been.
        case settle
    }

    /// How long after the end of one resolution the next begins at the earliest. While a name cannot be resolved, every
    /// change of the network is a reason to try again, and there can be thousands in a second.
    static let pause = Duration.seconds(1)
    /// The longest debounce. Clocks trap where a time and the present are together more than they can count.
    static let longestDebounce = Duration.seconds(1 << 31)

    private let name: String?
    private let debounce: Duration
    private var addresses: [NetworkAddress]
    private var current = ReachabilityStatus.unknown
    private var published = ReachabilityStatus.unknown
    private var isSettled = false
    /// Whether changes of the network are not told any more.
    private var isDeaf = false
    private var lastNumber: UInt64 = 0

    // Numbers of what is under way.
    private var resolution: UInt64?
    private var pauseTimer: UInt64?
    private var debounceTimer: UInt64?
    /// Whether a resolution is due after the present one and the pause.
    private var isResolutionDue = false
    /// Whether the newest resolution failed.
    private var isNameInDoubt = false

    init(_ target: ReachabilityTarget, debounce: Duration) {
        switch target.kind {
        case .name(let name): (self.name, addresses) = (name, [])
        case .addresses(let addresses): (name, self.addresses) = (nil, addresses)
        }
        self.debounce = min(max(debounce, .zero), Self.longestDebounce)
    }

    mutating func start() -> [Action] { name == nil ? [.lookUp(addresses)] : resolveSoon() }

    /// Something about the network has changed, or may have.
    mutating func networkChanged() -> [Action] {
        guard !isDeaf else { return [] }
        let resolving = isNameInDoubt || resolution != nil && addresses.isEmpty ? resolveSoon() : []
        return lookUpKnown() + resolving
    }

    /// Somebody wants to know anew.
    mutating func refresh() -> [Action] { isDeaf ? [] : lookUpKnown() + resolveSoon() }

    /// No change will be told any more, so that nothing is known any more.
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
        // The name may have other addresses on the network that is back.
        guard case .unreachable = before, status.interface != nil || status == .local else { return actions }
        return actions + resolveSoon()
    }

    /// - Parameter found: None, or nil, when the name was not resolved.
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
        // Addresses that are known from before are better advice than none. Without them nothing is known.
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

    /// Resolves the name, now or as soon as it may.
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

    /// Decides whether the present status is told now, later or not at all.
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
