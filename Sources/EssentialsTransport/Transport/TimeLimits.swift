/// The time limits of a request's options in milliseconds, the unit of the engines.
package struct TimeLimits: Sendable {
    package let connect: Int64
    package let idle: Int64?
    package let firstByte: Int64?
    package let total: Int64?
    package let queue: Int64?

    init(_ options: TransportOptions) {
        connect = Int64(options.connectTimeout.milliseconds)
        idle = options.idleTimeout.map { Int64($0.milliseconds) }
        firstByte = options.firstByteTimeout.map { Int64($0.milliseconds) }
        total = options.totalTimeout.map { Int64($0.milliseconds) }
        queue = options.queueTimeout.map { Int64($0.milliseconds) }
    }
}
