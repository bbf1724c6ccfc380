package main
import ("fmt";"os";"strconv";"strings";"time";"autotune/harness/protocol";"autotune/workloads/gorgonia")
func main(){
 e:=gorgonia.NewEngine()
 a:=strings.Split(os.Args[1],",")
 b,_:=strconv.Atoi(a[1]); ac,_:=strconv.Atoi(a[2]); n,_:=strconv.Atoi(a[3])
 opts:=map[string]string{}; prec:="fp32"
 for _,o:=range a[5:]{ if k,v,ok:=strings.Cut(o,"=");ok{ if k=="prec" {prec=v} else {opts[k]=v}}}
 st:=time.Now(); var tot float64; var steps []string
 d,err:=e.Run(protocol.Trial{Model:a[0],Options:opts,Optimizer:a[4],Seed:1,Precision:prec,MicroBatch:b,Accumulation:ac,WarmupSteps:1,Steps:n},func(s protocol.Step)error{ l:=-1.0; if s.Loss!=nil{l=*s.Loss}; tot+=s.Seconds; steps=append(steps,fmt.Sprintf("%.3f:%.0fms",l,s.Seconds*1e3)); return nil})
 if err!=nil{fmt.Println(err)}
 fmt.Printf("%-40s base %.1f peak %.2f MB outside %.3fs %v\n",os.Args[1],float64(d.Memory.Baseline["resident"])/1e6,float64(d.Memory.Peak["resident"])/1e6,time.Since(st).Seconds()-tot,strings.Join(steps," "))
}
