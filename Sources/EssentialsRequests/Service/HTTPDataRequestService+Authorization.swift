extension HTTPDataRequestService {
    /// Sends these credentials to the origin of the environment in force from now on; see the protocol.
    public func setAuthorization(_ credentials: Credentials) {
        authorization.set(credentials, for: snapshot().baseURL.origin)
    }

    /// Forgets the credentials and the private state of the origin of the environment in force; see the protocol.
    public func clearAuthorization() async {
        let origin = snapshot().baseURL.origin
        authorization.clear(origin)
        for store in configuration.privateState { await store.clearPrivateState(of: origin) }
    }
}
