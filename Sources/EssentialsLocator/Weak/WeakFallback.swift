/// What a resolve does that finds a weak registration whose object is gone.
public enum WeakFallback: Sendable, Hashable {
    /// Goes on in the parent, in the same call, as if there were no registration.
    case parent
    /// Finds nothing: ``ServiceLocatorError/Reason/missing``, or nil from `resolveOptional`.
    case missing
}
