extension ServiceLocatorError {
    /// The maximum number of near misses.
    private static let nearMissLimit = 8

    static func missing(
        typeName: String, name: String?, searched: [String], nearMisses: [String], hasGone: Bool
    ) -> Self {
        let label = Slot.label(typeName, name: name)
        let chain = searched.map { "\"\($0)\"" }.joined(separator: ", then ")
        let message = "No \(label) is registered; searched \(chain)."
        guard !nearMisses.isEmpty else {
            return Self(.missing, message, serviceType: typeName, serviceName: name, searched: searched)
        }
        let listed = Array(nearMisses.prefix(nearMissLimit))
        let more = nearMisses.count - listed.count
        let tail = more > 0 ? "; and \(more) more" : ""
        return Self(
            .missing, "\(message) It comes close to: \(listed.joined(separator: "; "))\(tail).",
            remedy: hasGone
                ? Reason.serviceGone.remedy : "Ask for one of these by its type and name, or register \(label) too.",
            serviceType: typeName, serviceName: name, searched: searched, nearMisses: listed)
    }

    static func duplicate(_ slot: Slot, existing: Slot, in locator: ServiceLocator) -> Self {
        Self(
            .duplicate,
            "\(slot.label) cannot be registered in \"\(locator.name)\" at \(slot.site): it was at \(existing.site).",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func tooManyRegistrations(_ slot: Slot, in locator: ServiceLocator) -> Self {
        Self(
            .tooManyRegistrations,
            "\(slot.label) cannot be registered in \"\(locator.name)\" at \(slot.site): it has accepted its limit of "
                + "\(locator.registrationLimit) registrations, replaced and unregistered ones included.",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func cycle(_ slot: Slot, path: [String]) -> Self {
        Self(
            .cycle, "Building \(slot.label) needs itself: \(path.joined(separator: " -> ")).",
            serviceType: slot.typeName, serviceName: slot.key.name, path: path)
    }

    /// The error of a resolve whose factory threw an error.
    static func construction(_ slot: Slot, in locator: ServiceLocator, failedWith underlying: any Error) -> Self {
        // The path of a cycle already names every service.
        if let error = underlying as? ServiceLocatorError, error.reason == .cycle { return error }
        return Self(
            .constructionFailed,
            "The factory of \(slot.label(in: locator)), registered at \(slot.site), failed: \(underlying)",
            serviceType: slot.typeName, serviceName: slot.key.name, underlying: underlying)
    }

    static func assembly(_ name: String, in locator: ServiceLocator, failedWith underlying: any Error) -> Self {
        Self(
            .constructionFailed,
            "The assembly \"\(name)\" could not be installed in \"\(locator.name)\": \(underlying)",
            remedy: "Correct what the assembly needs, and install it again: nothing of it was registered.",
            serviceType: "", serviceName: nil, underlying: underlying)
    }

    static func closed(_ locator: ServiceLocator) -> Self {
        Self(.closed, "The locator \"\(locator.name)\" is closed.", serviceType: "", serviceName: nil)
    }

    static func asynchronous(_ slot: Slot, in locator: ServiceLocator) -> Self {
        Self(
            .asynchronous,
            "\(slot.label(in: locator)), registered at \(slot.site), has an asynchronous factory.",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func argumentMismatch(_ slot: Slot, in locator: ServiceLocator, takes: String, given: String) -> Self {
        Self(
            .argumentMismatch,
            "\(slot.label(in: locator)), registered at \(slot.site), takes arguments of these types: "
                + "\(takes); given were: \(given).",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func notConforming(
        _ object: Any, to typeName: String, in locator: ServiceLocator, at site: RegistrationSite
    ) -> Self {
        Self(
            .notConforming,
            "\(String(reflecting: type(of: object))) cannot be registered as \(typeName) in \"\(locator.name)\" at "
                + "\(site): it is none.",
            serviceType: typeName, serviceName: nil)
    }

    static func serviceGone(_ label: String, site: RegistrationSite) -> Self {
        Self(
            .serviceGone, "The object of \(label), made weak at \(site), is gone.", serviceType: label,
            serviceName: nil)
    }

    static func neverFound(_ label: String, site: RegistrationSite) -> Self {
        Self(
            .serviceGone,
            "The object of \(label), made weak at \(site), was gone before anybody resolved it, as a temporary is.",
            serviceType: label, serviceName: nil)
    }

    static func locatorGone(_ name: String) -> Self {
        Self(.locatorGone, "The locator \"\(name)\" is gone.", serviceType: "", serviceName: nil)
    }

    static func cancelled(_ slot: Slot, label: String) -> Self {
        Self(
            .cancelled, "The task that waited for \(label) was cancelled.", serviceType: slot.typeName,
            serviceName: slot.key.name)
    }
}
