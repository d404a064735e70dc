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
            .missing, "\(message) These are similar: \(listed.joined(separator: "; "))\(tail).",
            remedy: hasGone
                ? Reason.serviceGone.remedy
                : "Resolve one of these by its type and name, or register \(label) as well.",
            serviceType: typeName, serviceName: name, searched: searched, nearMisses: listed)
    }

    static func duplicate(_ slot: Slot, existing: Slot, in locator: ServiceLocator) -> Self {
        Self(
            .duplicate,
            "\(slot.label) cannot be registered in \"\(locator.name)\" at \(slot.site), because it was already "
                + "registered at \(existing.site).",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func tooManyRegistrations(_ slot: Slot, in locator: ServiceLocator) -> Self {
        Self(
            .tooManyRegistrations,
            "\(slot.label) cannot be registered in \"\(locator.name)\" at \(slot.site), because the locator has "
                + "accepted its limit of \(locator.registrationLimit) registrations, including replaced and "
                + "unregistered ones.",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func cycle(_ slot: Slot, path: [String]) -> Self {
        Self(
            .cycle, "Building \(slot.label) requires the service itself: \(path.joined(separator: " -> ")).",
            serviceType: slot.typeName, serviceName: slot.key.name, path: path)
    }

    /// The maximum number of services of a path that a message lists.
    private static let shownPathLimit = 8

    /// The error of a resolve whose factory threw an error.
    ///
    /// If a factory failed because another factory failed, the error keeps the cause and extends the path.
    static func construction(_ slot: Slot, in locator: ServiceLocator, failedWith underlying: any Error) -> Self {
        let label = slot.label(in: locator)
        let inner = underlying as? ServiceLocatorError
        // The path of a cycle already names every service.
        if let inner, inner.reason == .cycle { return inner }
        let path = [label] + (inner?.reason == .constructionFailed ? inner?.path ?? [] : [])
        let cause =
            inner?.cause
            ?? "The factory of \(label), registered at \(slot.site), failed: \(text(of: underlying))"
        return Self(
            .constructionFailed, path.count == 1 ? cause : "\(cause) It was needed by \(shown(path)).",
            remedy: inner?.remedy, serviceType: slot.typeName, serviceName: slot.key.name, path: path,
            underlying: underlying, cause: cause)
    }

    /// The text of a factory's error as a sentence. The remedy of a locator's error becomes that of the new error.
    private static func text(of error: any Error) -> String {
        let text = (error as? ServiceLocatorError)?.message ?? "\(error)"
        guard let last = text.last, !".!?”".contains(last) else { return text }
        return text + "."
    }

    /// A path in one line. A long path is shortened to its beginning and its end.
    private static func shown(_ path: [String]) -> String {
        guard path.count > shownPathLimit else { return path.joined(separator: " -> ") }
        let half = shownPathLimit / 2
        let left = path.count - 2 * half
        return (path.prefix(half) + ["\(left) more"] + path.suffix(half)).joined(separator: " -> ")
    }

    static func assembly(_ name: String, in locator: ServiceLocator, failedWith underlying: any Error) -> Self {
        Self(
            .constructionFailed,
            "The assembly \"\(name)\" could not be installed in \"\(locator.name)\", so none of its services was "
                + "registered: \(text(of: underlying))",
            remedy: (underlying as? ServiceLocatorError)?.remedy ?? "Correct the cause and install it again.",
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
                + "\(takes). The resolve passed: \(given).",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func notConforming(
        _ object: Any, to typeName: String, in locator: ServiceLocator, at site: RegistrationSite
    ) -> Self {
        Self(
            .notConforming,
            "\(String(reflecting: type(of: object))) cannot be registered as \(typeName) in \"\(locator.name)\" at "
                + "\(site), because it is not of that type.",
            serviceType: typeName, serviceName: nil)
    }

    static func serviceGone(_ label: String, site: RegistrationSite) -> Self {
        Self(
            .serviceGone, "The weak object of \(label), registered at \(site), was released.", serviceType: label,
            serviceName: nil)
    }

    static func neverFound(_ label: String, site: RegistrationSite) -> Self {
        Self(
            .serviceGone,
            "The weak object of \(label), registered at \(site), was released before it was resolved, like any "
                + "temporary.",
            serviceType: label, serviceName: nil)
    }

    static func locatorGone(_ name: String) -> Self {
        Self(.locatorGone, "The locator \"\(name)\" was released.", serviceType: "", serviceName: nil)
    }

    static func cancelled(_ slot: Slot, label: String) -> Self {
        Self(
            .cancelled,
            "The task that waited for \(label) was cancelled; the factory continues, and a later resolve gets "
                + "its service.",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }
}
