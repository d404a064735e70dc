/// What a response cache says about each of its responses, so that the services above it know which response is newer, and
/// whether they know its body already.
package struct ResponseIdentity: Sendable, Hashable {
    /// The number of the request to the server that has fetched the response, or confirmed it last. It rises with each
    /// request of the cache, so of two responses of one URL that with the greater number is newer. It is never zero.
    package var load: UInt64
    /// A number that changes only if the body does. A confirmation with 304 keeps it.
    package var body: UInt64

    package init(load: UInt64, body: UInt64) { (self.load, self.body) = (load, body) }
}
