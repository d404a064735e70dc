import Synchronization

extension ServiceLocator {
    /// Builds the service of a lazy registration of this locator, or waits for the thread that builds it.
    ///
    /// Nil when the registration was removed before its factory could run.
    func construct<Service: Sendable>(_ slot: ServiceSlot<Service>) throws(ServiceLocatorError) -> Service? {
        let thread = currentThreadIdentity()
        let label = "\(slot.label) in \"\(name)\""
        let step = ConstructionLedger.shared.withLock { ledger -> ConstructionLedger.Step? in
            // Asked again under the ledger's lock, because an attempt may have ended since the caller looked. Attempts
            // leave the ledger after they have stored their service, so a slot that is neither ready nor in the
            // ledger is nobody's.
            slot.isReady ? nil : ledger.enter(slot: ObjectIdentifier(slot), label: label, thread: thread)
        }
        let outcome: ConstructionAttempt.Outcome
        switch step {
        case nil:
            return slot.service
        case .build(let attempt):
            outcome = build(slot)
            ConstructionLedger.shared.withLock { $0.finish(attempt) }
            attempt.result.deliver(outcome)
        case .wait(let attempt):
            outcome = attempt.result.wait()
            ConstructionLedger.shared.withLock { $0.stopWaiting(thread: thread) }
        case .cycle(let path):
            throw .cycle(slot, path: path)
        }
        switch outcome {
        case .built: return slot.service
        case .withdrawn: return nil
        case .failed(let error): throw error
        }
    }

    /// Runs the factory, without a lock. `self` is the owner and lives at least until it returns.
    private func build<Service: Sendable>(_ slot: ServiceSlot<Service>) -> ConstructionAttempt.Outcome {
        guard let factory = slot.pendingFactory else { return .withdrawn }
        do {
            slot.publish(try factory(self))
            return .built
        } catch let error as ServiceLocatorError where error.reason == .cycle {
            // Its path says more than any wrapping by the services on it could.
            return .failed(error)
        } catch {
            return .failed(.constructionFailed(slot, in: self, underlying: error))
        }
    }
}
