import Dispatch
import EssentialsTools

/// Executes the machine's actions on a thread of its own.
///
/// It uses a thread in poll(2) instead of a Dispatch source, because ``stop()`` can then wait until every descriptor is
/// closed. The thread sleeps while nothing happens and does nothing that blocks: names are resolved elsewhere, and
/// observers have their own queues.
///
/// `@unchecked Sendable`: only the thread uses `machine` and `tasks`, and ``begin()`` before the thread exists; all
/// other properties are constant and `Sendable`.
final class ReachabilityLoop: @unchecked Sendable {
    private enum Message: Sendable, Equatable {
        case refresh
        case resolved(UInt64, [NetworkAddress]?)
        case timerEnded(UInt64)
    }

    private struct Mailbox {
        /// At most a few messages: there is one resolution and two timers at a time, and refreshes are combined.
        var messages: [Message] = []
        var isStopping = false
        /// Whether the descriptors are closed, so that none may be used.
        var hasEnded = false
        var thread: pthread_t?
    }

    let board = StatusBoard()
    private let options: ReachabilityOptions
    private let events: any NetworkEvents
    private let routes: any RouteLookup
    private let wake: WakeChannel
    private let mailbox = Mutex(Mailbox())
    /// A group that is left when the descriptors are closed.
    private let running = DispatchGroup()

    private var machine: ReachabilityMachine
    /// The running tasks of the machine, by its numbers.
    private var tasks: [UInt64: Task<Void, Never>] = [:]

    /// Creates a loop and takes ownership of the descriptors.
    init(
        _ target: ReachabilityTarget, options: ReachabilityOptions, events: any NetworkEvents, routes: any RouteLookup,
        wake: WakeChannel
    ) {
        self.options = options
        self.events = events
        self.routes = routes
        self.wake = wake
        machine = ReachabilityMachine(target, debounce: options.debounce)
    }

    /// Determines the first status, if that needs no waiting, and starts the thread.
    ///
    /// - Throws: ``ReachabilityError/Reason/system`` if no thread could be created. The descriptors are then closed.
    func begin() throws(ReachabilityError) {
        running.enter()
        perform(machine.start())
        do throws(SystemThread.Failure) {
            // It begins in the network namespace of the calling thread.
            try SystemThread(named: "essentials-path") { self.run() }.detach()
        } catch {
            end()
            throw .system("The system could not create a thread", code: error.code)
        }
    }

    func refresh() { post(.refresh) }

    /// Signals the thread to end without waiting for it.
    func signalStop() {
        board.close()
        mailbox.withLock { mailbox in
            mailbox.isStopping = true
            if !mailbox.hasEnded { wake.signal() }
        }
    }

    /// Ends the thread and waits until the descriptors are closed. It does not wait if it is called on the thread
    /// itself.
    func stop() {
        signalStop()
        let isOwnThread = mailbox.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
        if !isOwnThread { running.wait() }
    }

    private func post(_ message: Message) {
        mailbox.withLock { mailbox in
            guard !mailbox.hasEnded, message != .refresh || !mailbox.messages.contains(.refresh) else { return }
            mailbox.messages.append(message)
            wake.signal()
        }
    }

    // MARK: The thread

    private func run() {
        mailbox.withLock { $0.thread = pthread_self() }
        var isDeaf = false
        while true {
            // poll(2) ignores negative descriptors.
            var requests = [wake.descriptor, isDeaf ? -1 : events.descriptor]
                .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&requests, nfds_t(requests.count), -1) >= 0 else { continue }
            if requests[0].revents != 0 { wake.drain() }
            guard let messages = takeMessages() else { break }
            for message in messages { handle(message) }
            guard requests[1].revents != 0 else { continue }
            switch events.drain() {
            case .none: break
            case .changed: perform(machine.networkChanged())
            case .lost:
                isDeaf = true
                perform(machine.eventsLost())
            }
        }
        end()
    }

    /// The posted messages; `nil` if the thread must stop.
    private func takeMessages() -> [Message]? {
        mailbox.withLock { mailbox in
            guard !mailbox.isStopping else { return nil }
            defer { mailbox.messages = [] }
            return mailbox.messages
        }
    }

    private func handle(_ message: Message) {
        switch message {
        case .refresh: perform(machine.refresh())
        case .resolved(let number, let addresses):
            tasks[number] = nil
            perform(machine.resolved(number, addresses))
        case .timerEnded(let number):
            tasks[number] = nil
            perform(machine.timerEnded(number))
        }
    }

    private func perform(_ actions: [ReachabilityMachine.Action]) {
        var due = actions
        while !due.isEmpty {
            switch due.removeFirst() {
            case .lookUp(let addresses):
                due += machine.lookedUp(StatusRules.best(of: routes.statuses(of: addresses)))
            case .resolve(let name, let number):
                tasks[number] = Task { [resolver = options.resolver] in
                    let addresses = try? await resolver.addresses(of: name)
                    self.post(.resolved(number, addresses))
                }
            case .wait(let duration, let number):
                tasks[number] = Task { [clock = options.clock] in
                    // The sleep throws only when it is cancelled, and the timer is then no longer needed.
                    guard (try? await clock.sleep(for: duration)) != nil else { return }
                    self.post(.timerEnded(number))
                }
            case .forget(let number): tasks.removeValue(forKey: number)?.cancel()
            case .publish(let status): board.publish(status)
            case .settle: board.settle()
            }
        }
    }

    /// Releases everything. Only the thread calls it as its last step, or ``begin()`` if no thread could be created.
    private func end() {
        for task in tasks.values { task.cancel() }
        tasks = [:]
        mailbox.withLock { mailbox in
            mailbox.hasEnded = true
            mailbox.messages = []
        }
        events.close()
        routes.close()
        wake.close()
        running.leave()
    }
}
