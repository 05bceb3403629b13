public import Crypto
public import Device

/// One key operation to run on the keys the face scan opens.
///
/// Made without being judged: a request that breaks a rule ends the flow that carries it, before the face scan.
/// Source: SenseCrypt description, "Face-PKI operations during sign-in".
public struct SignInPKIRequest: Codable, Sendable, Hashable {
    /// What to do.
    public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
        /// Fetch the public keys of every class.
        case publicKeys
        /// Sign a hash.
        case sign
        /// Decapsulate a shared secret.
        case decapsulate
    }

    /// Whose keys.
    public enum Scope: String, Codable, Sendable, Hashable, CaseIterable {
        /// The application's own.
        case app
        /// Those every allowed application of the tenant shares.
        case tenant
    }

    /// What to do.
    public var kind: Kind
    /// The app's own context, 0 to 255 bytes: each gives other keys.
    public var context: [UInt8]
    /// The hash to sign, 32 or 64 bytes, or the encapsulation, 65 bytes; nil for the public keys.
    public var operand: [UInt8]?
    /// Whose keys.
    public var scope: Scope

    /// Describes an operation.
    public init(kind: Kind, context: [UInt8], operand: [UInt8]? = nil, scope: Scope = .app) {
        self.kind = kind
        self.context = context
        self.operand = operand
        self.scope = scope
    }
}

/// A request that may run: what the edge needs to do it.
public struct PKIOperation: Codable, Sendable, Hashable {
    /// What was asked for.
    public let request: SignInPKIRequest
    /// Whose keys, by name.
    public let owner: FacePKIOwner
    /// The classes of the keys to use: one to sign or decapsulate with, or all whose public keys are asked for.
    public let classes: [FacePKIClass]
}

/// What came of an operation, without the shared secret: that never enters a flow.
public struct PKIOutput: Codable, Sendable, Hashable {
    /// A public key and its class.
    public struct PublicKey: Codable, Sendable, Hashable {
        /// The class.
        public let name: FacePKIClass
        /// The key as an uncompressed point, 65 bytes.
        public let point: [UInt8]

        /// Takes a public key.
        public init(_ name: FacePKIClass, _ key: P256.PublicKey) {
            self.name = name
            point = key.x963
        }
    }

    /// The public key of the class used, or those of all classes.
    public let keys: [PublicKey]
    /// Of a hash that was signed: 64 bytes, r and s of 32 each.
    public let signature: [UInt8]?

    /// Takes what an operation gave.
    public init(keys: [PublicKey], signature: [UInt8]? = nil) {
        self.keys = keys
        self.signature = signature
    }
}

/// A finished operation, as the signed-in app sees it: the request's context and scope again, and what came of it.
///
/// A shared secret is not in it: whoever performed the operation holds it, to be taken once.
public struct SignInPKIResult: Codable, Sendable, Hashable {
    /// What was done.
    public let kind: SignInPKIRequest.Kind
    /// The context used.
    public let context: [UInt8]
    /// Whose keys were used.
    public let scope: SignInPKIRequest.Scope
    /// The public keys, and the signature where one was asked for.
    public let output: PKIOutput

    init(_ request: SignInPKIRequest, _ output: PKIOutput) {
        kind = request.kind
        context = request.context
        scope = request.scope
        self.output = output
    }
}
