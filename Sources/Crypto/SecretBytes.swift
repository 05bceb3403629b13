import COpenSSL
import Synchronization

/// Secret bytes in one place of memory, given out once and wiped then, or when the last owner lets go.
///
/// An array is copied wherever Swift likes and its freed copies stay readable; these bytes are not.
public final class SecretBytes: Sendable {
    private struct Contents: ~Copyable {
        let bytes: UnsafeMutableRawBufferPointer
        var isTaken = false

        /// Overwrites the bytes; they stay allocated until the owner goes.
        mutating func wipe() {
            OPENSSL_cleanse(bytes.baseAddress, bytes.count)
            isTaken = true
        }

        deinit {
            OPENSSL_cleanse(bytes.baseAddress, bytes.count)
            bytes.deallocate()
        }
    }

    private let contents: Mutex<Contents>

    /// Moves bytes in and wipes them where they were.
    ///
    /// The array must not be shared with another variable, whose copy nobody could wipe.
    public init(wiping source: inout [UInt8]) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 16)
        bytes.copyBytes(from: source)
        contents = Mutex(Contents(bytes: bytes))
        source.wipe()
    }

    /// The bytes, once: the first call returns them and wipes this copy, later calls return nil.
    public func take() -> [UInt8]? {
        contents.withLock { contents in
            guard !contents.isTaken else { return nil }
            defer { contents.wipe() }
            return [UInt8](contents.bytes)
        }
    }

    /// Wipes the bytes without giving them out.
    public func wipe() { contents.withLock { $0.wipe() } }

    /// Whether the bytes are gone.
    public var isTaken: Bool { contents.withLock { $0.isTaken } }

    /// The memory as it is, for a test that looks whether it was wiped.
    func peek() -> [UInt8] { contents.withLock { [UInt8]($0.bytes) } }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// Says what it is and nothing of its value.
    public var description: String { "secret bytes ‹redacted›" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
    /// Overwrites the bytes in place and empties the array.
    ///
    /// Only the memory of an array that is shared with no other variable is the one overwritten.
    mutating func wipe() {
        withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        removeAll()
    }
}
