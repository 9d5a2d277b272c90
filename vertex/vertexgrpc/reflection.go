package vertexgrpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

// reflectServices has tools such as grpcurl list and call the services. The services have Google's
// names and the messages ours, so the files that describe the services are made here.
func reflectServices(g *grpc.Server) {
	files := described{new(protoregistry.Files)}
	for _, s := range services() {
		file, err := protodesc.NewFile(s.describe(), protoregistry.GlobalFiles)
		if err == nil {
			err = files.RegisterFile(file)
		}
		if err != nil {
			panic(err) // the services do not change
		}
	}
	opts := reflection.ServerOptions{Services: g, DescriptorResolver: files}
	grpc_reflection_v1.RegisterServerReflectionServer(g, reflection.NewServerV1(opts))
	grpc_reflection_v1alpha.RegisterServerReflectionServer(g, reflection.NewServer(opts))
}

// describe is the file of a service.
func (s served) describe() *descriptorpb.FileDescriptorProto {
	full := protoreflect.FullName(s.name)
	service := &descriptorpb.ServiceDescriptorProto{Name: proto.String(string(full.Name()))}
	typeOf := func(m proto.Message) *string {
		return proto.String("." + string(m.ProtoReflect().Descriptor().FullName()))
	}
	for _, m := range s.methods {
		service.Method = append(service.Method, &descriptorpb.MethodDescriptorProto{Name: proto.String(m.name),
			InputType: typeOf(m.request()), OutputType: typeOf(m.answer())})
	}
	return &descriptorpb.FileDescriptorProto{Name: proto.String("memoryd/" + s.name + ".proto"),
		Package: proto.String(string(full.Parent())), Syntax: proto.String("proto3"),
		Dependency: []string{pb.File_vertex_proto.Path()},
		Service:    []*descriptorpb.ServiceDescriptorProto{service}}
}

// described finds the files made here, and then those of the messages.
type described struct{ *protoregistry.Files }

// FindFileByPath implements protodesc.Resolver.
func (d described) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if file, err := d.Files.FindFileByPath(path); err == nil {
		return file, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

// FindDescriptorByName implements protodesc.Resolver.
func (d described) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if of, err := d.Files.FindDescriptorByName(name); err == nil {
		return of, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}
